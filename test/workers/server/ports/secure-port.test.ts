// Access to the authenticated port, over real TLS.
// @promise Server: An intermediate CA in clientCAFile is a trust anchor without its issuer, as upstream.

import { deepEqual, equal, match, rejects } from "node:assert/strict";
import { once } from "node:events";
import { copyFile, rename, writeFile } from "node:fs/promises";
import { connect as connectH2 } from "node:http2";
import { Agent } from "node:https";
import { connect as connectTcp } from "node:net";
import { join } from "node:path";
import { after, afterEach, before, describe, test } from "node:test";
import { connect } from "node:tls";
import { TestCA, type Pair } from "../../../support/test-ca.js";
import { Certificates, SecurePort, type SecurePortOptions } from "./secure-port-kit.js";

let certificates: Certificates;
let admin: Pair;
let expired: Pair;
let serverOnly: Pair;
let foreign: Pair;
let otherCA: TestCA;
before(async () => {
  certificates = await Certificates.create();
  const { ca, dir } = certificates;
  otherCA = await TestCA.create(dir, "other-ca");
  [admin, expired, serverOnly, foreign] = await Promise.all([
    ca.issue("admin", { subject: "/O=system:masters/O=ops/CN=admin" }),
    ca.issue("expired", { subject: "/CN=admin", days: -1 }),
    ca.issue("server-only", { subject: "/CN=admin", usage: "serverAuth" }),
    otherCA.issue("foreign", { subject: "/CN=admin" }),
  ]);
});
after(() => certificates.remove());

let server: SecurePort;
const open = async (options: SecurePortOptions = {}): Promise<SecurePort> =>
  (server = await new SecurePort(certificates).open(options));
afterEach(() => server.close());

const authentication = (more: object = {}): SecurePortOptions["init"] & object => ({
  authentication: {
    anonymous: false,
    clientCAFile: certificates.ca.pair.certFile,
    webhook: false,
    cacheTTLMs: 120_000,
    ...more,
  },
});

describe("client certificates", () => {
  test("of the CA open the door; none, an expired one, another CA's and a server's do not", async () => {
    await open({ init: authentication() });
    const good = await server.ask("/healthz", { cert: admin.cert, key: admin.key });
    deepEqual([good.status, good.body], [200, "ok"]);
    for (const pair of [undefined, expired, foreign, serverOnly]) {
      const { status, body } = await server.ask("/healthz", pair && { cert: pair.cert, key: pair.key });
      deepEqual([status, body], [401, "Unauthorized"]);
    }
    equal(server.lines.length, 1, "one line per client and minute");
    match(server.lines[0]?.line ?? "", /no credentials/);
  });

  test("are not needed for a 404 of a path that no node serves, and are needed for all other responses", async () => {
    await open({ init: authentication() });
    const ask = async (path: string): Promise<number> => (await server.ask(path)).status;
    const unknown = [
      "/",
      "/nothing",
      "/healthz/x",
      "/healthz/ping/",
      "/healthzx",
      "/metrics/",
      "/metrics/x",
      "/configz/",
    ];
    for (const path of [...unknown, "/debug", "/debug/x", "/Pods", "/pods%2Fx", "/%ff"])
      equal(await ask(path), 404, path);
    // Some of them are turned off here, and some have no route below them.
    const known = [
      "/pods",
      "/pods/x",
      "/stats/x",
      "/run/x",
      "/exec/",
      "/checkpoint/x",
      "/logs/x",
      "/runningpods/x",
      "/configz",
    ];
    const own = ["/manifests", "/manifests/x", "/ui/", "/ui/x", "/debug/pods/a/b/timeline", "/debug/flags/v", "/flagz"];
    for (const path of [...known, ...own, "/healthz/%70ing", "/debug/pprof/x"]) equal(await ask(path), 401, path);
  });

  test("that are invalid do not count as anonymous: anonymous requests are served, these are not", async () => {
    await open({ init: authentication({ anonymous: true }) });
    equal((await server.ask("/healthz")).status, 200);
    equal((await server.ask("/healthz", { cert: foreign.cert, key: foreign.key })).status, 401);
    match(server.lines[0]?.line ?? "", /client certificate: /);
  });

  test("user and groups are those of the subject", async () => {
    const asked: unknown[] = [];
    await open({
      init: {
        ...authentication(),
        authorization: { mode: "Webhook", cacheAuthorizedTTLMs: 1000, cacheUnauthorizedTTLMs: 1000 },
      },
      create: (_kind, object) => {
        asked.push((object as { spec: unknown }).spec);
        return Promise.resolve({ status: { allowed: true } });
      },
    });
    equal((await server.ask("/pods", { cert: admin.cert, key: admin.key })).status, 200);
    const [{ extra, ...spec }] = asked as [{ extra: Record<string, string[]> }];
    deepEqual(spec, {
      user: "admin",
      groups: ["system:masters", "ops", "system:authenticated"],
      resourceAttributes: { verb: "get", version: "v1", resource: "nodes", subresource: "pods", name: "node-1" },
    });
    match(extra["authentication.kubernetes.io/credential-id"]?.[0] ?? "", /^X509SHA256=[0-9a-f]{64}$/);
  });

  test("are verified with the CAs as they are now", async () => {
    const file = join(certificates.dir, "clients.crt");
    await copyFile(certificates.ca.pair.certFile, file);
    await open({ init: authentication({ clientCAFile: file }) });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const mine = { cert: admin.cert, key: admin.key, agent };
    equal((await server.ask("/healthz", mine)).status, 200);
    await writeFile(`${file}.new`, otherCA.pair.cert);
    await rename(`${file}.new`, file);
    while ((await server.ask("/healthz", { cert: foreign.cert, key: foreign.key })).status !== 200);
    equal((await server.ask("/healthz", mine)).status, 401);
    agent.destroy();
  });

  test("an intermediate CA is a trust anchor without its issuer: its clients are accepted, its issuer's are not", async () => {
    const intermediate = await certificates.ca.intermediate("intermediate");
    const [mine, serving, old] = await Promise.all([
      intermediate.issue("of-intermediate", { subject: "/CN=admin" }),
      intermediate.issue("server-of-intermediate", { subject: "/CN=admin", usage: "serverAuth" }),
      intermediate.issue("expired-of-intermediate", { subject: "/CN=admin", days: -1 }),
    ]);
    await open({ init: authentication({ clientCAFile: intermediate.pair.certFile }) });
    const statusFor = async (pair: Pair, chain = ""): Promise<number> =>
      (await server.ask("/healthz", { cert: pair.cert + chain, key: pair.key })).status;
    equal(await statusFor(mine), 200);
    equal(await statusFor(mine, intermediate.pair.cert), 200, "a client that sends the chain");
    for (const pair of [admin, serving, old, foreign]) equal(await statusFor(pair), 401);
    equal(await statusFor(foreign, intermediate.pair.cert), 401);
  });

  test("of each CA of the file are accepted, an intermediate CA's and a root CA's", async () => {
    const intermediate = await certificates.ca.intermediate("intermediate-2");
    const mine = await intermediate.issue("of-intermediate-2", { subject: "/CN=admin" });
    const file = join(certificates.dir, "both.crt");
    await writeFile(file, `# clients\n${intermediate.pair.cert}${otherCA.pair.cert}`);
    await open({ init: authentication({ clientCAFile: file }) });
    for (const pair of [mine, foreign]) {
      equal((await server.ask("/healthz", { cert: pair.cert, key: pair.key })).status, 200);
    }
    equal((await server.ask("/healthz", { cert: admin.cert, key: admin.key })).status, 401);
  });

  test("a broken CA file changes nothing and is reported once", async () => {
    const file = join(certificates.dir, "clients-2.crt");
    await copyFile(certificates.ca.pair.certFile, file);
    await open({ init: authentication({ clientCAFile: file }) });
    await writeFile(file, "-----BEGIN CERTIFICATE-----\nno\n-----END CERTIFICATE-----\n");
    while (!server.lines.some(({ line }) => line.includes("stays in use"))) await tick();
    equal((await server.ask("/healthz", { cert: admin.cert, key: admin.key })).status, 200);
  });
});

describe("the serving certificate", () => {
  test("opens the port when it appears, and is replaced while the port is open", async () => {
    const [certFile, keyFile] = [join(certificates.dir, "late.crt"), join(certificates.dir, "late.key")];
    await open({ init: { tls: { certFile, keyFile } } });
    equal(await server.server.listening(), undefined);
    await copyFile(certificates.serving.keyFile, keyFile);
    await copyFile(certificates.serving.certFile, certFile);
    while ((await server.server.listening()) === undefined) await tick();
    equal((await server.ask("/healthz")).status, 200);
    const next = await certificates.ca.issue("next", {
      subject: "/CN=next",
      usage: "serverAuth",
      names: "IP:127.0.0.1",
    });
    await copyFile(next.keyFile, keyFile);
    await copyFile(next.certFile, certFile);
    for (let name = ""; name !== "next";) {
      const socket = connect({ host: "127.0.0.1", port: server.port, ca: certificates.ca.pair.cert });
      await once(socket, "secureConnect");
      name = String(socket.getPeerCertificate().subject.CN);
      socket.destroy();
    }
  });

  test("is shown with the requested versions and ciphers", async () => {
    await open({ init: { tls: { minVersion: "TLSv1.2", ciphers: ["ECDHE-ECDSA-AES256-GCM-SHA384"] } } });
    const { port } = server;
    const ca = certificates.ca.pair.cert;
    const talk = async (options: object): Promise<string> => {
      const socket = connect({ host: "127.0.0.1", port, ca, ...options });
      await once(socket, "secureConnect");
      const { standardName } = socket.getCipher();
      socket.destroy();
      return `${String(socket.getProtocol())} ${standardName}`;
    };
    match(await talk({ maxVersion: "TLSv1.2" }), /ECDHE_ECDSA_WITH_AES_256_GCM_SHA384/);
    match(await talk({}), /TLS_AES_/);
    await rejects(talk({ maxVersion: "TLSv1.2", ciphers: "ECDHE-ECDSA-AES128-GCM-SHA256" }));
    await rejects(talk({ maxVersion: "TLSv1.1", minVersion: "TLSv1", ciphers: "ALL@SECLEVEL=0" }));
  });
});

describe("bearer tokens", () => {
  const users = new Map([["good", { username: "alice", groups: ["dev"] }]]);
  const reviews = (asked: string[]) => (_kind: unknown, object: unknown) => {
    const { token } = (object as { spec: { token: string } }).spec;
    asked.push(token);
    const user = users.get(token);
    return Promise.resolve({
      status: user ? { authenticated: true, user } : { authenticated: false, error: "audience" },
    });
  };

  test("are reviewed once in their time; one of another audience is refused", async () => {
    const asked: string[] = [];
    const create = reviews(asked);
    await open({ init: authentication({ webhook: true, clientCAFile: "" }), create });
    const ask = async (token: string): Promise<number> =>
      (await server.ask("/healthz", { headers: { authorization: `Bearer ${token}` } })).status;
    deepEqual([await ask("good"), await ask("good"), await ask("other"), await ask("other")], [200, 200, 401, 401]);
    deepEqual(asked, ["good", "other"]);
    match(server.lines[0]?.line ?? "", /bearer token: audience/);
  });

  test("without an API server are 401, and access without one is 500", async () => {
    await open({ init: authentication({ webhook: true, anonymous: true, clientCAFile: "" }) });
    equal((await server.ask("/healthz", { headers: { authorization: "Bearer good" } })).status, 401);
    await server.close();
    await open({
      init: { authorization: { mode: "Webhook", cacheAuthorizedTTLMs: 1, cacheUnauthorizedTTLMs: 1 } },
    });
    const { status, body } = await server.ask("/exec/a/b/c", { method: "POST" });
    equal(status, 500);
    equal(body, "Authorization error (user=system:anonymous, verb=create, resource=nodes, subresource=proxy)");
  });

  test("a forbidden request names the missing permission, in upstream's words", async () => {
    await open({
      init: { authorization: { mode: "Webhook", cacheAuthorizedTTLMs: 1, cacheUnauthorizedTTLMs: 1 } },
      create: () => Promise.resolve({ status: { allowed: false } }),
    });
    const { status, body } = await server.ask("/pods");
    equal(status, 403);
    equal(body, "Forbidden (user=system:anonymous, verb=get, resource=nodes, subresource(s)=[pods proxy])\n");
  });
});

describe("a client that means no good", () => {
  test("headers and bodies beyond the limit are refused", async () => {
    await open({ init: authentication() });
    const identity = { cert: admin.cert, key: admin.key };
    const long = await server.ask("/healthz", { ...identity, headers: { "x-long": "x".repeat(500_000) } });
    equal(long.status, 200);
    const tooLong = server.ask("/healthz", { ...identity, headers: { "x-long": "x".repeat(1_100_000) } });
    // The answer comes while the client still writes, and may be lost to it with the connection.
    const status = await tooLong.then(
      (answer) => answer.status,
      (error: unknown) => (["ECONNRESET", "EPIPE"].includes(String((error as { code?: unknown }).code)) ? 431 : error),
    );
    equal(status, 431);
    const socket = connect({ host: "127.0.0.1", port: server.port, ca: certificates.ca.pair.cert, ...identity });
    socket.write("POST /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 9999999\r\n\r\nxxx");
    // Here too: what was sent and never read takes the answer along when the connection goes.
    const answer = await textOf(socket).catch((error: unknown) => {
      if ((error as { code?: unknown }).code === "ECONNRESET") return "HTTP/1.1 413 (reset)";
      throw error;
    });
    match(answer, /^HTTP\/1.1 413 /);
  });

  test("one that sends nothing, or sends slowly, is let go of", async () => {
    await open({ limits: { handshakeMs: 500, headersMs: 500, checkMs: 20 } });
    const silent = connectTcp(server.port, "127.0.0.1");
    const slow = connect({ host: "127.0.0.1", port: server.port, ca: certificates.ca.pair.cert });
    slow.write("GET /healthz HTTP/1.1\r\nX-A: ");
    // Either may be reset: what it has sent is not read any more.
    await Promise.allSettled([textOf(silent), textOf(slow)]);
    equal((await server.ask("/healthz")).status, 200);
  });

  test("more connections than allowed are closed at once, where all are authorised clients'", async () => {
    await open({ limits: { connections: 2 } });
    const agent = new Agent({ keepAlive: true });
    equal((await Promise.all([1, 2].map(() => server.ask("/healthz", { agent })))).length, 2);
    await rejects(server.ask("/healthz"));
    agent.destroy();
  });

  test("an upgrade to nothing known is an ordinary request", async () => {
    await open();
    const headers = { connection: "Upgrade, HTTP2-Settings", upgrade: "h2c" };
    deepEqual((await server.ask("/healthz", { headers })).body, "ok");
    equal((await server.ask("/nothing", { headers })).status, 404);
  });
});

test("HTTP/2 is offered, many requests on one connection", async () => {
  await open({ init: authentication() });
  const session = connectH2(`https://127.0.0.1:${server.port}`, {
    ca: certificates.ca.pair.cert,
    cert: admin.cert,
    key: admin.key,
  });
  const bodies = await Promise.all(
    ["/healthz", "/pods", "/nothing"].map(async (path) => {
      const stream = session.request({ ":path": path });
      const [headers] = (await once(stream, "response")) as [{ ":status": number }];
      return `${headers[":status"]} ${await textOf(stream)}`;
    }),
  );
  deepEqual(bodies, [
    "200 ok",
    '200 {"kind":"PodList","apiVersion":"v1","metadata":{},"items":[]}\n',
    "404 404 page not found\n",
  ]);
  session.destroy();
});

async function textOf(stream: NodeJS.ReadableStream): Promise<string> {
  let text = "";
  stream.setEncoding("utf8");
  for await (const part of stream) text += String(part);
  return text;
}

function tick(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
