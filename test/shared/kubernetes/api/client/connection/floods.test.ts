// An API server that answers a watch and then sends frames or interim responses without end: the connection ends, and
// an honest one with many small pieces does not.
// @promise Hostile tenants and clients: An API server that floods frames of HTTP/2 or interim responses loses its
//   connection within a second.

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer as createPlainServer, type AddressInfo, type Socket } from "node:net";
import { test, type TestContext } from "node:test";
import { createServer } from "node:tls";
import { systemClock } from "../../../../../../src/shared/base/clock/clock.js";
import { createApiClient, type ConnectedClient } from "../../../../../../src/shared/kubernetes/api/client/client.js";
import {
  FloodGuard,
  MAX_IDLE_BYTES,
} from "../../../../../../src/shared/kubernetes/api/client/connection/flood-guard.js";
import { PODS } from "../../../../../../src/shared/kubernetes/api/client/kinds.js";
import { flood } from "../../../../../support/flooding-server.js";
import { certFolder } from "../../../../../support/test-certs.js";
import { keptLog } from "../client-kit.js";

function frame(type: number, flags: number, stream: number, body: readonly number[] = []): Buffer {
  return Buffer.from([0, body.length >> 8, body.length & 255, type, flags, 0, 0, 0, stream, ...body]);
}

/** HEADERS with END_HEADERS and one field: ":status: 200" by its index, ":status: 103" as a literal. */
const OK = frame(1, 4, 1, [0x88]);
const INTERIM = frame(1, 4, 1, [0x08, 3, 0x31, 0x30, 0x33]);
const SETTINGS = frame(4, 0, 0);
const HEADERS = 1;

const FLOODS: Readonly<Record<string, readonly [first: Buffer, again: Buffer]>> = {
  "WINDOW_UPDATE of the connection": [OK, frame(8, 0, 0, [0, 0, 0, 1])],
  "WINDOW_UPDATE of the watch": [OK, frame(8, 0, 1, [0, 0, 0, 1])],
  "unknown frames": [OK, frame(0xbb, 0, 0)],
  "ALTSVC frames": [OK, frame(0x0a, 0, 0, [0, 1, 0x61, 0x62])],
  "interim responses": [INTERIM, INTERIM],
  "DATA of one byte": [OK, frame(0, 0, 1, [0x0a])],
  "empty DATA": [OK, frame(0, 0, 1)],
  PING: [OK, frame(6, 0, 0, [0, 0, 0, 0, 0, 0, 0, 0])],
};

/** What the library lets pass. */
const OURS = new Set(["WINDOW_UPDATE of the connection", "WINDOW_UPDATE of the watch", "interim responses"]);
/** Newer versions of nghttp2 end some of the others themselves. */
const ENDED = /bring no call further|[Ff]looding|Too many invalid|Protocol error/;

/** The types of all whole frames after the client's preface. */
function typesIn(bytes: Buffer): number[] {
  const types: number[] = [];
  for (let at = 24; at + 9 <= bytes.length; at += 9 + bytes.readUIntBE(at, 3)) types.push(bytes.readUInt8(at + 3));
  return types;
}

async function clientOf(t: TestContext, server: ReturnType<typeof createServer>): Promise<ConnectedClient> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => sockets.add(socket));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const config = { origin: "kubeconfig", server: `https://127.0.0.1:${port}`, insecureSkipTlsVerify: true };
  const client = createApiClient({ config, clock: systemClock, log: keptLog().log });
  t.after(() => {
    client.close();
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return client;
}

async function watchToItsEnd(client: ConnectedClient): Promise<void> {
  const { signal } = new AbortController();
  for await (const event of client.watch(PODS, { signal })) assert.fail(JSON.stringify(event));
}

for (const [name, [first, again]] of Object.entries(FLOODS)) {
  test(`the connection ends when the server floods ${name}`, async (t) => {
    const certs = await certFolder();
    t.after(() => certs.remove());
    const ca = await certs.ca("cluster");
    const { cert, key } = await ca.issue("/CN=kube-apiserver", { names: "IP:127.0.0.1" });
    const server = createServer({ cert, key, ALPNProtocols: ["h2"] }, (socket) => {
      socket.on("error", () => undefined);
      socket.write(SETTINGS);
      let sent = Buffer.alloc(0);
      const onData = (piece: Buffer): void => {
        sent = Buffer.concat([sent, piece]);
        if (!typesIn(sent).includes(HEADERS)) return;
        socket.off("data", onData);
        flood(socket, { first, again: Buffer.concat(Array.from({ length: 4096 }, () => again)) });
      };
      socket.on("data", onData);
    });
    const client = await clientOf(t, server);
    await assert.rejects(watchToItsEnd(client), OURS.has(name) ? /bring no call further/ : ENDED);
  });
}

test("the connection ends when the server floods interim responses over HTTP/1.1", async (t) => {
  const server = createPlainServer((socket) => {
    socket.once("data", () => {
      const interim = Buffer.from("HTTP/1.1 103 Early Hints\r\n\r\n");
      flood(socket, { first: interim, again: interim });
    });
    socket.on("error", () => undefined);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const config = { origin: "kubeconfig", server: `http://127.0.0.1:${port}` };
  const client = createApiClient({ config, clock: systemClock, log: keptLog().log });
  t.after(() => {
    client.close();
    server.close();
  });
  await assert.rejects(watchToItsEnd(client), /sent 65 interim responses/);
});

test("bodies in frames as small as an event's, responses and time earn what the frames around them cost", () => {
  let [received, data] = [0, 0];
  const guard = new FloodGuard({ receivedBytes: () => received, dataBytes: () => data });
  // A frame and a record around a body of 50 bytes; the library's count begins again.
  for (let count = 0; count < 100_000; count++) {
    data = count === 50_000 ? 0 : data + 50;
    received += 90;
    assert.equal(guard.isFlooded(0), false);
  }
  for (let count = 0; count < 100_000; count++) {
    received += 4000;
    guard.responded();
    assert.equal(guard.isFlooded(0), false);
  }
  for (let count = 0; count < 1000; count++) {
    received += 10_000;
    assert.equal(guard.isFlooded(1), false);
  }
  received += 2 * MAX_IDLE_BYTES;
  assert.equal(guard.isFlooded(1), true);
});
