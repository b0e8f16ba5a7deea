// The processor time of clients over real TLS: a client without an authorised request has a limit, and others have
// none.

import { equal, match } from "node:assert/strict";
import { once } from "node:events";
import { constants } from "node:http2";
import { connect as connectTcp, type Socket } from "node:net";
import { after, afterEach, before, test } from "node:test";
import { connect } from "node:tls";
import { KeyUpdateClient } from "../../../support/key-updates.js";
import { connectRawTls } from "../../../support/raw-tls-client.js";
import { until } from "../../../support/sources-kit.js";
import type { Pair } from "../../../support/test-ca.js";
import { Certificates, SecurePort } from "../ports/secure-port-kit.js";

let certificates: Certificates;
let admin: Pair;
let server: SecurePort;
before(async () => {
  certificates = await Certificates.create();
  admin = await certificates.ca.issue("admin", { subject: "/CN=admin" });
});
after(() => certificates.remove());
afterEach(() => server.close());

/** Unless the server stays cold, a request is authorised first. */
async function open(unauthorisedProcessorMs: number, { isCold = false } = {}): Promise<void> {
  server = await new SecurePort(certificates).open({
    init: {
      authentication: {
        anonymous: false,
        clientCAFile: certificates.ca.pair.certFile,
        webhook: false,
        cacheTTLMs: 120_000,
      },
    },
    // On a busy machine, milliseconds of processor time take many seconds: no other limit ends the connection first.
    limits: { unauthorisedProcessorMs, handshakeBurst: 10_000, headersMs: 150_000, unauthorisedMs: 150_000 },
  });
  if (!isCold) equal((await server.ask("/healthz", { cert: admin.cert, key: admin.key })).status, 200);
}

const reasons = (): string => server.lines.map(({ line }) => line).join("\n");

function closed(socket: Socket): Promise<void> {
  socket.resume();
  return new Promise((resolve) => (socket.closed ? resolve() : socket.once("close", () => resolve())));
}

test("a client that changes its keys without end is closed", async () => {
  await open(30);
  const client = await KeyUpdateClient.connect(server.port, "127.0.0.2");
  const isClosed = closed(client.socket);
  while (!client.socket.closed) {
    client.send(200);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await isClosed;
  match(reasons(), /used more than 30 ms of processor time/);
  equal((await server.ask("/healthz", { cert: admin.cert, key: admin.key })).status, 200);
});

test("before the first authorised request of all, a connection may use eight times as much", async () => {
  await open(10, { isCold: true });
  // Refusals of one address are reported once.
  const closeOne = async (address: string): Promise<void> => {
    const client = await KeyUpdateClient.connect(server.port, address);
    const isClosed = closed(client.socket);
    while (!client.socket.closed) {
      client.send(200);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await isClosed;
  };
  await closeOne("127.0.0.2");
  match(reasons(), /used more than 80 ms of processor time$/);
  await server.ask("/healthz", { cert: admin.cert, key: admin.key });
  await closeOne("127.0.0.3");
  match(reasons(), /used more than 10 ms of processor time$/);
});

test("an HTTP/2 client that resets its requests is closed", async () => {
  await open(50);
  const session = server.http2({ localAddress: "127.0.0.2" });
  // Node's client does not always notice the end.
  while (reasons().split("processor time").length < 2) {
    for (let i = 0; i < 50; i++) {
      const stream = session.request({ ":path": "/pods" });
      stream.on("error", () => undefined);
      stream.close(constants.NGHTTP2_CANCEL);
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
  session.destroy();
  equal((await server.ask("/healthz", { cert: admin.cert, key: admin.key })).status, 200);
});

test("a client with an authorised request is not limited", async () => {
  await open(60);
  const ca = certificates.ca.pair.cert;
  const socket = connect({ host: "127.0.0.1", port: server.port, ca, cert: admin.cert, key: admin.key });
  await once(socket, "secureConnect");
  let answers = 0;
  socket.setEncoding("latin1").on("data", (text: string) => (answers += text.split("HTTP/1.1 200").length - 1));
  for (let sent = 1; sent <= 500; sent++) {
    socket.write("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
    while (answers < sent) await once(socket, "data");
  }
  socket.destroy();
  equal(reasons(), "");
});

test("a request in small pieces arrives whole, before and after the first authorised one", async () => {
  await open(10_000);
  const ca = certificates.ca.pair.cert;
  const socket = connect({ host: "127.0.0.1", port: server.port, ca, cert: admin.cert, key: admin.key });
  await once(socket, "secureConnect");
  let text = "";
  socket.setEncoding("latin1").on("data", (part: string) => (text += part));
  const request = `GET /healthz HTTP/1.1\r\nHost: x\r\nX-Long: ${"x".repeat(2000)}\r\n\r\n`;
  for (let sent = 1; sent <= 2; sent++) {
    for (const letters of request.match(/[^]{1,9}/g) ?? []) socket.write(letters);
    while (text.split("HTTP/1.1 200").length - 1 < sent) await once(socket, "data");
  }
  socket.end();
  await closed(socket);
});

test("a client that ends its connection in the handshake leaves nothing behind", async () => {
  await open(100);
  const sockets = (): number => process.getActiveResourcesInfo().filter((kind) => kind === "TCPSocketWrap").length;
  const before = sockets();
  for (let i = 0; i < 10; i++) (await connectRawTls(server.port)).end();
  const silent = connectTcp(server.port, "127.0.0.1");
  await once(silent, "connect");
  silent.destroy();
  await until(() => sockets() <= before);
});
