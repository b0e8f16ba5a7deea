// The end of HTTP/2 connections whose clients do nothing, or take nothing.
// @promise Server: HTTP/2 connections that are idle, or whose client takes nothing, end and free their resources.

import { equal } from "node:assert/strict";
import { once } from "node:events";
import type { ClientHttp2Session } from "node:http2";
import { after, afterEach, before, describe, test } from "node:test";
import { showPods } from "../../../support/pod-list.js";
import { pod } from "../../../support/pods.js";
import type { Pair } from "../../../support/test-ca.js";
import { Certificates, SecurePort, type Http2Options } from "./secure-port-kit.js";

const TIMEOUT = { timeout: 60_000 };
/** Longer than a busy machine keeps this process from sending its requests. */
const LIMITS = { idleMs: 1500, lingerMs: 50 };

function tick(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** TCP sockets of this process, on both sides. */
const sockets = (): number => process.getActiveResourcesInfo().filter((kind) => kind === "TCPSocketWrap").length;

describe("an HTTP/2 connection", () => {
  let certificates: Certificates;
  let admin: Pair;
  let server: SecurePort;
  let session: ClientHttp2Session;
  /** Bytes of bodies. */
  let received = 0;
  before(async () => {
    certificates = await Certificates.create();
    admin = await certificates.ca.issue("admin", { subject: "/CN=admin" });
  });
  after(() => certificates.remove());
  afterEach(() => {
    session.destroy();
    return server.close();
  });

  async function open(limits: object, options: Http2Options): Promise<void> {
    const clientCAFile = certificates.ca.pair.certFile;
    const authentication = { anonymous: false, clientCAFile, webhook: false, cacheTTLMs: 120_000 };
    server = await new SecurePort(certificates).open({ init: { authentication }, limits });
    showPods(server.pods, [pod()]);
    received = 0;
    session = server.http2(options);
    await once(session, "connect");
  }
  /** The head of the response, or nothing if the connection ended before it. */
  const ask = (path: string): Promise<unknown[]> => {
    const stream = session.request({ ":path": path });
    stream.on("error", () => undefined).on("data", (part: Buffer) => (received += part.length));
    return Promise.race([once(stream, "response"), once(stream, "close").then(() => [])]);
  };
  /** The server holds neither the connection nor its requests. */
  async function isFreed(): Promise<void> {
    while ((await server.inflight()) > 0 || sockets() > 0) await tick();
    equal(session.destroyed, true);
  }

  test("of an authorised client ends when it was idle", TIMEOUT, async () => {
    await open(LIMITS, admin);
    const [headers] = (await ask("/healthz")) as [{ ":status": number }];
    equal(headers[":status"], 200);
    await isFreed();
  });

  test("of an authorised client ends with its streams when it takes nothing for as long", TIMEOUT, async () => {
    await open(LIMITS, { ...admin, settings: { initialWindowSize: 0 } });
    await Promise.all(Array.from({ length: 20 }, () => ask("/pods")));
    await isFreed();
    equal(received, 0, "the responses waited for the client");
  });

  test(
    "of an unauthorised client ends in its time, also if it takes nothing and keeps the connection busy",
    TIMEOUT,
    async () => {
      await open({ unauthorisedMs: 1500 }, { settings: { initialWindowSize: 0 } });
      await Promise.all(Array.from({ length: 10 }, () => ask("/pods")));
      const busy = setInterval(() => {
        if (!session.destroyed) session.ping(() => undefined);
      }, 20);
      try {
        await isFreed();
      } finally {
        clearInterval(busy);
      }
      equal(received, 0, "the responses waited for the client");
    },
  );
});
