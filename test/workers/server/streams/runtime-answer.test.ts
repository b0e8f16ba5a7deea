// The streaming server of a runtime that lies: what the kubelet offers it over TLS, and what ends the request.

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { PassThrough } from "node:stream";
import { test, type TestContext } from "node:test";
import { systemClock } from "../../../../src/shared/base/clock/clock.js";
import { askRuntime } from "../../../../src/workers/server/streams/runtime-answer.js";
import { DHE_SUITES, dheFlight, offers } from "../../../support/hostile-tls.js";

/** Sends `first` after the client's first bytes. @returns its address, and the client's first bytes */
async function hostile(t: TestContext, first: Buffer): Promise<{ url: URL; hello: Promise<Buffer> }> {
  const sockets = new Set<Socket>();
  let heard: (bytes: Buffer) => void;
  const hello = new Promise<Buffer>((resolve) => (heard = resolve));
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.once("data", (bytes: Buffer) => {
      heard(bytes);
      socket.write(first);
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { url: new URL(`https://127.0.0.1:${(server.address() as AddressInfo).port}/exec/x`), hello };
}

test("a streaming server over TLS is offered no group of its own choice, and one that sends one is an error", async (t) => {
  const { url, hello } = await hostile(t, dheFlight());
  const asked = askRuntime(url, { method: "POST", headers: {} }, new PassThrough(), systemClock);
  await assert.rejects(asked, /alert|handshake|wrong|unexpected|cipher/i);
  const { suites, groups } = offers(await hello);
  assert.deepEqual(
    suites.filter((suite) => DHE_SUITES.includes(suite)),
    [],
  );
  assert.deepEqual(
    groups.filter((group) => group >= 0x0100 && group <= 0x01ff),
    [],
  );
});

test("a client that leaves ends the request at a server that never completes the handshake", async (t) => {
  const { url, hello } = await hostile(t, Buffer.alloc(0));
  const client = new PassThrough();
  const asked = askRuntime(url, { method: "POST", headers: {} }, client, systemClock);
  await hello;
  client.destroy();
  await assert.rejects(asked, /the client disconnected/);
});
