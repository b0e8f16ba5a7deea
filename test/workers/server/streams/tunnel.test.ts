// The end of a stream whose client takes its time.

import { equal } from "node:assert/strict";
import { once } from "node:events";
import { createServer, IncomingMessage, ServerResponse } from "node:http";
import { Socket, type AddressInfo } from "node:net";
import { Duplex } from "node:stream";
import { test } from "node:test";
import { bytesAsTheyAre } from "../../../../src/workers/server/streams/passage.js";
import { Tunnels } from "../../../../src/workers/server/streams/tunnel.js";
import { SteppedClock } from "../../../support/stepped-clock.js";

const LINGER_MS = 30_000;

/** Takes one write, and the next when that is released. */
class SlowClient extends Duplex {
  readonly taken: Buffer[] = [];
  private waiting: (() => void)[] = [];

  override _read(): void {
    // It says nothing.
  }
  override _write(part: Buffer, _encoding: string, done: () => void): void {
    this.taken.push(part);
    this.waiting.push(done);
  }
  release(): void {
    for (const done of this.waiting.splice(0)) done();
  }
}

test("the runtime's last bytes reach a slow client; then the client has a time limit to disconnect", async (t) => {
  let closed = false;
  const gone = (): boolean => closed;
  const runtime = createServer().on("upgrade", (_request: IncomingMessage, socket: Socket) => {
    socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n");
    socket.once("close", () => (closed = true));
    socket.end("last words");
  });
  runtime.listen(0, "127.0.0.1");
  await once(runtime, "listening");
  t.after(() => runtime.close());
  const clock = new SteppedClock();
  const tunnels = new Tunnels({ limit: 1, idleTimeoutMs: 10 * LINGER_MS, clock });
  const client = new SlowClient();
  const request = new IncomingMessage(new Socket());
  request.rawHeaders = ["Connection", "Upgrade", "Upgrade", "x"];
  const url = new URL(`http://127.0.0.1:${(runtime.address() as AddressInfo).port}/`);
  const upgrade = { socket: client, head: Buffer.alloc(0), take: () => undefined };
  const passage = bytesAsTheyAre(request, (offered) => offered);
  await tunnels.connect(new ServerResponse(request), upgrade, url, passage, "uid-web");
  while (!gone()) await new Promise((resolve) => setImmediate(resolve));
  clock.step(2 * LINGER_MS);
  equal(client.destroyed, false);
  while (!client.writableFinished) {
    client.release();
    await new Promise((resolve) => setImmediate(resolve));
  }
  equal(Buffer.concat(client.taken).toString().split("\r\n\r\n")[1], "last words");
  equal(tunnels.size, 1);
  clock.step(LINGER_MS);
  equal(client.destroyed, true);
  equal(tunnels.size, 0);
  equal(clock.pending, 0);
});
