// Cost of a client without credentials for the server thread, over real TLS on loopback.
// @promise Hostile tenants and clients: Unauthorised clients have their own limits: small header blocks, 64 connections
//   per address, oldest closed first, 60 s; 20 TLS handshakes per second of one address, ten times as many where a
//   client was authorised; pipelined upgrades in order, requests beyond the limit of their connection cost nothing; 16
//   requests in progress over HTTP/2, and the connection closes with its 16th refused request; an error in a handler
//   closes only its connection (docs/adr/0039).
// @with test/workers/server/clients/budget.test.ts, test/workers/server/clients/owned.test.ts,
//   test/workers/server/clients/handshake-rate.test.ts

import { deepEqual, equal, match, ok } from "node:assert/strict";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { Agent } from "node:https";
import { connect as connectTcp, type Socket } from "node:net";
import { after, afterEach, before, test } from "node:test";
import { connect, type ConnectionOptions, type TLSSocket } from "node:tls";
import { systemClock } from "../../../../src/shared/base/clock/clock.js";
import { SteppedClock } from "../../../support/stepped-clock.js";
import type { Pair } from "../../../support/test-ca.js";
import { Certificates, SecurePort, type SecurePortOptions } from "../ports/secure-port-kit.js";

let certificates: Certificates;
let admin: Pair;
before(async () => {
  certificates = await Certificates.create();
  admin = await certificates.ca.issue("admin", { subject: "/CN=admin" });
  certificatesOnly.authentication = {
    anonymous: false,
    clientCAFile: certificates.ca.pair.certFile,
    webhook: false,
    cacheTTLMs: 120_000,
  };
});
after(() => certificates.remove());

let server: SecurePort;
const clients = new Set<Socket>();
const open = async (options: SecurePortOptions = {}): Promise<SecurePort> =>
  (server = await new SecurePort(certificates).open(options));
afterEach(() => {
  for (const client of clients) client.destroy();
  clients.clear();
  return server.close();
});

const certificatesOnly: SecurePortOptions["init"] & object = {};

async function client(options: ConnectionOptions = {}): Promise<TLSSocket> {
  const ca = certificates.ca.pair.cert;
  const socket = connect({ host: "127.0.0.1", port: server.port, ca, ...options });
  clients.add(socket);
  socket.on("error", () => undefined);
  await once(socket, "secureConnect");
  return socket;
}

async function textOf(socket: Socket): Promise<string> {
  let text = "";
  for await (const part of socket.setEncoding("latin1")) text += String(part);
  return text;
}

function tick(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

const sockets = (): number => process.getActiveResourcesInfo().filter((kind) => kind === "TCPSocketWrap").length;

const UPGRADE = "GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
const PLAIN = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n";

test("an upgrade gets its response after the requests before it on the same connection", async () => {
  await open();
  const socket = await client();
  socket.write(PLAIN + PLAIN + UPGRADE);
  const text = await textOf(socket);
  equal(text.split("HTTP/1.1 200 OK").length - 1, 3, text);
});

test("requests sent together get their responses in order; too many end their connection only", async () => {
  await open();
  const [few, many] = [await client(), await client()];
  few.write(PLAIN.repeat(8) + UPGRADE);
  many.write(PLAIN.repeat(5000) + UPGRADE.repeat(100));
  equal((await textOf(few)).split("HTTP/1.1 200 OK").length - 1, 9);
  await textOf(many).catch(() => "");
  equal((await server.ask("/healthz")).status, 200);
});

test("requests beyond the limit of their connection are dropped: they become no request of the server", async () => {
  let requests = 0;
  const count = (): void => {
    requests++;
  };
  subscribe("http.server.request.start", count);
  try {
    await open({ init: certificatesOnly });
    const many = await client();
    many.write(PLAIN.repeat(5000) + UPGRADE.repeat(100));
    await textOf(many).catch(() => "");
    while ((await server.inflight()) > 0) await tick();
    equal((await server.ask("/healthz", { cert: admin.cert, key: admin.key })).status, 200);
  } finally {
    unsubscribe("http.server.request.start", count);
  }
  // One in progress, 16 that wait, the first beyond them; the operator's.
  equal(requests, 1 + 16 + 1 + 1);
});

test("the connection of a refused upgrade is closed after a short time, even if its client keeps it open", async () => {
  await open({ init: certificatesOnly, limits: { lingerMs: 20 } });
  const before = sockets();
  const socket = await client({ allowHalfOpen: true } as ConnectionOptions);
  socket.write(`${UPGRADE}x`);
  let text = "";
  socket.setEncoding("latin1").on("data", (part: string) => (text += part));
  await once(socket, "end");
  match(text, /^HTTP\/1.1 401 /);
  while (sockets() > before + 1) await tick();
});

test("the kernel sends keep-alive probes to silent clients", async () => {
  await open();
  await client();
  const port = server.port.toString(16).toUpperCase().padStart(4, "0");
  const timer = async (): Promise<string> =>
    (await readFile("/proc/net/tcp", "utf8"))
      .split("\n")
      .map((line) => line.trim().split(/\s+/))
      .filter(([, local = "", , state]) => local.endsWith(`:${port}`) && state === "01")
      .map(([, , , , , timer = ""]) => timer.slice(0, 2))
      .join();
  // While bytes are under way the kernel shows the timer of their retransmission instead, at any time of a handshake.
  let shown = await timer();
  for (; ["", "01"].includes(shown); shown = await timer()) await tick();
  equal(shown, "02");
});

test("large heads of clients without a certificate share a small pool; a certificate's holder has another", async () => {
  await open({ init: certificatesOnly });
  const large = async (): Promise<TLSSocket> => {
    const socket = await client();
    socket.write(`GET /healthz HTTP/1.1\r\nHost: x\r\nX-Long: ${"x".repeat(1_000_000)}`);
    return socket;
  };
  const sockets = await Promise.all(Array.from({ length: 8 }, large));
  const answers: string[] = [];
  for (const socket of sockets) {
    socket.setEncoding("latin1").on("data", (part: string) => void answers.push(part.slice(0, 13)));
  }
  // Two of one address fit.
  while (answers.length < 6) await tick();
  deepEqual([...new Set(answers)], ["HTTP/1.1 431 "]);
  const headers = { "x-long": "x".repeat(500_000) };
  equal((await server.ask("/healthz", { headers, cert: admin.cert, key: admin.key })).status, 200);
  equal((await server.ask("/healthz", { headers: { "x-long": "x".repeat(60_000) } })).status, 401);
  equal(answers.length, 6);
});

test("a client that sends plain HTTP gets an answer that says so, before any cryptography", async () => {
  await open({ init: certificatesOnly });
  const socket = connectTcp(server.port, "127.0.0.1");
  clients.add(socket);
  socket.write("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
  equal(await textOf(socket), "HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n");
});

test("a certificate's holder is served while unauthorised clients hold every connection", async () => {
  await open({
    init: certificatesOnly,
    limits: { connections: 16, unauthorised: 8, unauthorisedPerAddress: 8, identified: 8 },
  });
  const crowd = Array.from({ length: 64 }, () => connectTcp(server.port, "127.0.0.1"));
  for (const socket of crowd) clients.add(socket.on("error", () => undefined));
  await Promise.all(crowd.map((socket) => once(socket, "connect")));
  equal((await server.ask("/healthz", { cert: admin.cert, key: admin.key })).status, 200);
});

test("an address that starts too many handshakes is refused before its handshake; an operator is not", async () => {
  const limits = { handshakesPerSecond: 0.001, handshakeBurst: 4, handshakesWaitingPerAddress: 0 };
  await open({ init: certificatesOnly, limits });
  const operator = (): ReturnType<typeof server.ask> =>
    server.ask("/healthz", { cert: admin.cert, key: admin.key, localAddress: "127.0.0.3" });
  equal((await operator()).status, 200);
  let handshakes = 0;
  for (let i = 0; i < 20; i++) {
    const tcp = connectTcp({ host: "127.0.0.1", port: server.port, localAddress: "127.0.0.2" });
    const socket = connect({ socket: tcp, ca: certificates.ca.pair.cert, checkServerIdentity: () => undefined });
    for (const end of [tcp, socket]) clients.add(end.on("error", () => undefined));
    await Promise.race([once(socket, "secureConnect").then(() => handshakes++), once(socket, "close")]).catch(() => 0);
  }
  // One that takes more processor time counts as several, and the clients of the test use this thread, too.
  ok(handshakes >= 1 && handshakes <= 4, `${handshakes} handshakes`);
  for (let i = 0; i < 20; i++) equal((await operator()).status, 200);
  equal(server.lines.filter(({ line }) => line.startsWith("connection refused: ")).length, 1, "one line per minute");
});

test(
  "an operator who tries again is served while the address of the operator floods handshakes",
  { timeout: 120_000 },
  async () => {
    // Certificates are judged by wall time.
    const clock = Object.assign(new SteppedClock(1000), { now: () => systemClock.now() });
    await open({ clock, init: certificatesOnly, limits: { handshakeBurst: 8 } });
    let [opened, accepted] = [0, 0];
    const onAccepted = (): void => {
      accepted++;
    };
    const connected = async (): Promise<Socket> => {
      const socket = connectTcp(server.port, "127.0.0.1").on("error", () => undefined);
      clients.add(socket);
      socket.once("close", () => clients.delete(socket));
      await once(socket, "connect");
      opened++;
      return socket;
    };
    let [tries, waits, isServed] = [0, false, false];
    const ask = async (): Promise<void> => {
      [tries, waits] = [tries + 1, true];
      const ca = certificates.ca.pair.cert;
      const { cert, key } = admin;
      const socket = connect({ socket: await connected(), ca, checkServerIdentity: () => undefined, cert, key });
      clients.add(socket.on("error", () => undefined));
      socket.once("secureConnect", () => socket.write(PLAIN));
      socket.once("data", (data: Buffer) => (isServed = data.includes("HTTP/1.1 200 OK")));
      socket.once("close", () => (waits = false));
    };
    subscribe("net.server.socket", onAccepted);
    try {
      const began = clock.monotonic();
      // In every round the flood is quicker than the operator. It has more connections than may wait.
      while (!isServed) {
        equal(clock.monotonic() - began < 10_000, true, `not served in 10 s, after ${tries} tries`);
        for (const socket of await Promise.all(Array.from({ length: 24 }, connected))) {
          socket.write(Buffer.of(0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3));
        }
        while (accepted < opened) await tick();
        if (!waits) await ask();
        while (accepted < opened) await tick();
        await tick();
        clock.step(10);
      }
    } finally {
      unsubscribe("net.server.socket", onAccepted);
    }
  },
);

test(
  "a token is reviewed next while another address has many made-up tokens waiting",
  { timeout: 60_000 },
  async () => {
    const [clock, asked]: [SteppedClock, string[]] = [new SteppedClock(1000), []];
    await open({
      clock,
      init: {
        authentication: { anonymous: false, clientCAFile: "", webhook: true, cacheTTLMs: 120_000 },
        reviews: { qps: 1, burst: 1 },
      },
      // Its pauses would be of the clock that stands still.
      limits: { unauthorisedBatchMs: Infinity },
      create: (_kind, object) => {
        const { token } = (object as { spec: { token: string } }).spec;
        asked.push(token);
        return Promise.resolve({ status: token === "good" ? { authenticated: true, user: { username: "op" } } : {} });
      },
    });
    const unknownClients = Array.from({ length: 5 }, () => server.http2({ localAddress: "127.0.0.2" }));
    let answers = 0;
    for (let i = 0; i < 50; i++) {
      const stream = unknownClients[i % 5]?.request({ ":path": "/pods", authorization: `Bearer made-up-${i}` });
      stream?.on("response", () => answers++).on("error", () => undefined);
    }
    // One is reviewed, 32 wait; the others get 429.
    while (answers < 18 || (await server.inflight()) !== 32) await tick();
    let answer: Awaited<ReturnType<typeof server.ask>> | undefined;
    void server.ask("/healthz", { headers: { authorization: "Bearer good" } }).then((said) => (answer = said));
    while ((await server.inflight()) !== 33) await tick();
    const waiting = asked.length;
    while (!asked.includes("good")) {
      if (asked.length < waiting + 10) clock.step(1000);
      await tick();
    }
    equal(asked.indexOf("good") - waiting <= 1, true, asked.join());
    while (answer === undefined) await tick();
    equal(answer.status, 200);
    for (const unknownClient of unknownClients) unknownClient.destroy();
  },
);

test("a connection whose requests are refused closes with the 16th of them", async () => {
  await open({ init: certificatesOnly });
  const socket = await client();
  socket.write(PLAIN.repeat(16));
  equal((await textOf(socket)).split("HTTP/1.1 401 ").length - 1, 16);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  for (let i = 0; i < 40; i++) {
    const { status } = await server.ask("/healthz", { cert: admin.cert, key: admin.key, agent });
    equal(status, 200);
  }
  equal(Object.values(agent.freeSockets).flat().length, 1);
  agent.destroy();
});

test("an HTTP/2 client has 16 requests in progress until one is authorised, and none after its refusals", async () => {
  const granted: (() => void)[] = [];
  await open({
    init: {
      authentication: { anonymous: true, clientCAFile: "", webhook: false, cacheTTLMs: 0 },
      authorization: { mode: "Webhook", cacheAuthorizedTTLMs: 0, cacheUnauthorizedTTLMs: 0 },
    },
    create: () => new Promise((resolve) => granted.push(() => resolve({ status: { allowed: true } }))),
  });
  const session = server.http2();
  const limit = (): number | undefined => session.remoteSettings.maxConcurrentStreams;
  await once(session, "remoteSettings");
  equal(limit(), 16);
  session.request({ ":path": "/healthz" }).on("error", () => undefined);
  while (granted.length === 0) await tick();
  granted[0]?.();
  while (limit() === 16) await tick();
  equal(limit(), 250);
  session.destroy();

  await server.close();
  await open({ init: certificatesOnly });
  const unknownClient = server.http2();
  let answers = 0;
  for (let i = 0; i < 100; i++) {
    unknownClient
      .request({ ":path": "/pods" })
      .on("error", () => undefined)
      .on("response", () => answers++)
      .resume();
  }
  await once(unknownClient, "close");
  // Those that were under way with the 16th are still answered.
  equal(answers >= 16 && answers <= 32, true, String(answers));
});
