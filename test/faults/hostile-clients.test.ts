// Hostile clients at the authenticated port of a whole node: all are refused, and the kubelet is unchanged.
// @promise Hostile tenants and clients: The server refuses clients without a certificate, with an expired or foreign
//   one, or with invalid tokens. It refuses paths out of the folder. It refuses oversized headers, slow senders and
//   floods of upgrades. Memory stays constant, pods are unaffected.
// @with test/workers/server/ports/secure-port.test.ts, test/workers/server/streams/stream-routes.test.ts,
//   test/workers/server/logs/node/node-logs.test.ts

import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { connect as connectH2 } from "node:http2";
import { request, type RequestOptions } from "node:https";
import { connect as connectTcp, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { connect, type ConnectionOptions, type TLSSocket } from "node:tls";
import { startNode, waitFor, type TestNode } from "../harness/node.js";
import { IDLE, manifest, NODE_NAME, shell, statusOf, waitForPod } from "../support/static-pods.js";
import { TestCA, type Pair } from "../support/test-ca.js";

const ROUNDS = 4;
const PER_ROUND = 100;
/** Allowed growth in rounds after the first, MiB: a leak of one connection's buffers per client would be more. */
const GROWTH_MIB = 24;

let dir: string;
let node: TestNode;
let port: number;
let good: Pair;
let bad: (Pair | undefined)[];
before(async () => {
  dir = await mkdtemp(join(tmpdir(), "nodelet-hostile-"));
  const [ca, other] = [await TestCA.create(dir), await TestCA.create(dir, "other")];
  good = await ca.issue("good", { subject: "/CN=admin" });
  const expired = await ca.issue("expired", { subject: "/CN=admin", days: -1 });
  bad = [undefined, expired, await other.issue("foreign", { subject: "/CN=admin" })];
  node = await startNode({
    secure: true,
    config: {
      authentication: {
        anonymous: { enabled: false },
        webhook: { enabled: false },
        x509: { clientCAFile: join(dir, "ca.crt") },
      },
    },
  });
  port = Number(new URL(node.kubelet.secureUrl).port);
  await node.writeManifest("web", manifest("web", [shell("app", IDLE)]));
  await waitForPod(node, "web", (pod) => statusOf(pod, "app")?.ready === true, "Ready");
  await waitFor(async () => (await ask("/healthz", credentials(good))) === 200, { what: "the port to be open" });
});
after(async () => {
  await node.stop();
  await rm(dir, { recursive: true, force: true });
});

const credentials = (pair: Pair | undefined): RequestOptions =>
  pair === undefined ? {} : { cert: pair.cert, key: pair.key };

/** Status, or 0 when the connection was closed instead. */
async function ask(path: string, options: RequestOptions = {}): Promise<number> {
  const sent = request({ host: "127.0.0.1", port, path, agent: false, rejectUnauthorized: false, ...options }).end();
  try {
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    response.resume();
    return response.statusCode ?? 0;
  } catch {
    return 0;
  } finally {
    sent.destroy();
  }
}

async function slow(): Promise<TLSSocket> {
  const socket = connect({ host: "127.0.0.1", port, rejectUnauthorized: false });
  socket.on("error", () => undefined);
  await once(socket, "secureConnect");
  socket.write("GET /pods HTTP/1.1\r\nX-Slow: ");
  return socket;
}

async function residentMiB(): Promise<number> {
  const text = await (await fetch(`${node.kubelet.url}/metrics`)).text();
  return Number(/^process_resident_memory_bytes (\S+)$/m.exec(text)?.[1]) / 2 ** 20;
}

test("floods of clients without right: refused, memory flat, the pod untouched", async () => {
  const pod = `default/web-${NODE_NAME}/app`;
  const upgrade = { headers: { connection: "Upgrade", upgrade: "websocket" } };
  const paths: [path: string, options: RequestOptions, status: number][] = [
    ["/pods", {}, 401],
    [`/exec/${pod}?command=id&output=1`, upgrade, 401],
    [`/exec/${pod}?command=id&output=1`, { method: "POST" }, 401],
    [`/containerLogs/default/..%2f..%2f..%2fetc/passwd`, {}, 401],
    ["/logs/..%2f..%2fetc/passwd", {}, 401],
    ["/pods", { headers: { authorization: "Bearer wrong" } }, 401],
    ["/pods", { headers: { "x-large": "x".repeat(1_200_000) } }, 431],
  ];
  const seen: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const crowd = await Promise.all(Array.from({ length: PER_ROUND / 4 }, slow));
    for (let i = 0; i < PER_ROUND; i += 10) {
      const wave = Array.from({ length: 10 }, async (_, k) => {
        const [path = "", options = {}, expected = 0] = paths[(i + k) % paths.length] ?? [];
        const status = await ask(path, { ...options, ...credentials(bad[(i + k) % bad.length]) });
        assert.ok(status === expected || (expected === 431 && status === 0), `${path}: ${status}`);
      });
      await Promise.all(wave);
    }
    for (const socket of crowd) socket.destroy();
    seen.push(await residentMiB());
  }
  const growth = (seen.at(-1) ?? 0) - (seen[0] ?? 0);
  assert.ok(growth < GROWTH_MIB, `resident MiB after each round: ${seen.map((mib) => mib.toFixed(1)).join(", ")}`);

  assert.equal(await ask("/healthz", credentials(good)), 200);
  for (const path of ["/logs/..%2f..%2fetc/passwd", "/containerLogs/default/..%2f..%2fetc/passwd"]) {
    assert.equal(await ask(path, credentials(good)), 404, path);
  }
  const shown = await waitForPod(node, "web", () => true, "there");
  assert.deepEqual([statusOf(shown, "app")?.ready, statusOf(shown, "app")?.restartCount], [true, 0]);
});

/** The attackers have an address of their own; the operator asks from 127.0.0.1. */
const ATTACKER = { host: "127.0.0.1", localAddress: "127.0.0.2" };
const PLAIN = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n";
const UPGRADE = "GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";

/** @returns the connections; each was opened, or closed by the kubelet */
async function crowd(count: number, open: () => Socket, event: "connect" | "secureConnect"): Promise<Socket[]> {
  const sockets: Socket[] = [];
  while (sockets.length < count) {
    const wave = Array.from({ length: Math.min(50, count - sockets.length) }, open);
    for (const socket of wave) socket.on("error", () => undefined);
    await Promise.all(
      wave.map((socket) => new Promise<void>((resolve) => socket.once(event, resolve).once("close", () => resolve()))),
    );
    sockets.push(...wave);
  }
  return sockets;
}

function tls(count: number, text: string, options: ConnectionOptions = {}): Promise<Socket[]> {
  const open = (): Socket => {
    const socket = connect({ ...ATTACKER, port, rejectUnauthorized: false, ...options } as ConnectionOptions);
    if (text !== "") socket.once("secureConnect", () => socket.write(text));
    return socket;
  };
  return crowd(count, open, "secureConnect");
}

function tcp(count: number, text: string): Promise<Socket[]> {
  const open = (): Socket => {
    const socket = connectTcp({ ...ATTACKER, port });
    if (text !== "") socket.once("connect", () => socket.write(text));
    return socket;
  };
  return crowd(count, open, "connect");
}

async function closedWindows(): Promise<Socket[]> {
  const identity = { cert: good.cert, key: good.key, ALPNProtocols: ["h2"] };
  const sockets = await tls(20, "", identity);
  for (const socket of sockets) {
    const session = connectH2("https://127.0.0.1", {
      createConnection: () => socket,
      settings: { initialWindowSize: 0 },
    });
    session.on("error", () => undefined);
    for (let i = 0; i < 50; i++) session.request({ ":path": "/pods" }).on("error", () => undefined);
  }
  return sockets;
}

const attacks: [name: string, run: () => Promise<Socket[]>][] = [
  [
    "requests ahead of upgrades",
    () => tls(20, PLAIN.repeat(1000) + UPGRADE.repeat(100), { cert: good.cert, key: good.key }),
  ],
  ["half-sent heads", () => tls(256, `GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${"x".repeat(60_000)}`)],
  ["refused upgrades with unread bytes", () => tls(1100, `${UPGRADE}${"x".repeat(1000)}`)],
  ["HTTP/2 clients that take no data", closedWindows],
  ["a flood of connections", () => tcp(2000, "")],
  ["garbage instead of TLS", () => tcp(500, "\x16\x03\x01\xff\xffgarbage".repeat(100))],
];

test("an operator is served during attacks of unauthorised clients, and no server thread restarts", async () => {
  for (const [name, run] of attacks) {
    const served = async (): Promise<void> => {
      for (const path of ["/healthz", "/pods"]) {
        assert.equal(await ask(path, credentials(good)), 200, `${name}: ${path}`);
      }
    };
    const progress = { isOver: false };
    const attack = run().finally(() => (progress.isOver = true));
    do await served();
    while (!progress.isOver);
    const sockets = await attack;
    await served();
    for (const socket of sockets) socket.destroy();
  }
  const metrics = await (await fetch(`${node.kubelet.url}/metrics`)).text();
  assert.match(metrics, /^nodelet_loop_delay_seconds\{/m);
  assert.doesNotMatch(metrics, /^nodelet_thread_restarts_total\{[^}]*thread="(?:secure-)?server"[^}]*\} [1-9]/m);
  const shown = await waitForPod(node, "web", () => true, "there");
  assert.deepEqual([statusOf(shown, "app")?.ready, statusOf(shown, "app")?.restartCount], [true, 0]);
});

/** Most tries of one operator per request: with 5,000 connections per second beside it, far more than it needs. */
const MOST_TRIES = 1000;

test("an operator that retries is served while its own address floods handshakes", async () => {
  const shared = { host: "127.0.0.1", localAddress: "127.0.0.9" };
  const progress = { isOver: false };
  const flood = Array.from({ length: 64 }, async () => {
    while (!progress.isOver) {
      const socket = connectTcp({ ...shared, port }).on("error", () => undefined);
      // The beginning of a handshake that goes no further.
      socket.once("connect", () => socket.write(Buffer.of(0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3)));
      const timer = setTimeout(() => socket.destroy(), 1000);
      await new Promise<void>((resolve) => void socket.once("close", resolve));
      clearTimeout(timer);
    }
  });
  try {
    for (let served = 0; served < 5; served++) {
      let tries = 1;
      while ((await ask("/healthz", { ...credentials(good), ...shared })) !== 200) {
        assert.ok(++tries <= MOST_TRIES, `not served after ${MOST_TRIES} tries`);
      }
    }
  } finally {
    progress.isOver = true;
    await Promise.all(flood);
  }
});
