// The end of a stream: all bytes of the runtime reach a client that takes its time, or still sends.

import { equal, ok } from "node:assert/strict";
import { once } from "node:events";
import { createServer, IncomingMessage, ServerResponse } from "node:http";
import { Socket, type AddressInfo } from "node:net";
import { Duplex } from "node:stream";
import { test, type TestContext } from "node:test";
import { podUid } from "../../../../src/shared/kubernetes/identifiers.js";
import { rawPassthrough } from "../../../../src/workers/server/streams/passage.js";
import { Tunnels } from "../../../../src/workers/server/streams/tunnel.js";
import { SteppedClock } from "../../../support/stepped-clock.js";

const LINGER_MS = 30_000;

/** Takes one write, and the next when that is released. */
class SlowClient extends Duplex {
  readonly taken: Buffer[] = [];
  private waiting: (() => void)[] = [];

  constructor() {
    super({ writableHighWaterMark: 1 });
  }

  /** What it got after the headers. */
  get body(): string {
    return Buffer.concat(this.taken).toString().split("\r\n\r\n").slice(1).join("\r\n\r\n");
  }

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

const SWITCH = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n";
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Time for what lies in the kernel to be read, as far as it is read at all. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await nextTurn();
}

const IDLE_MS = 10 * LINGER_MS;

interface Joined {
  client: SlowClient;
  runtime: Socket;
  tunnels: Tunnels;
  clock: SteppedClock;
}

/** A client whose stream is open. */
async function joined(t: TestContext): Promise<Joined> {
  let runtime: Socket | undefined;
  const server = createServer().on("upgrade", (_request: IncomingMessage, socket: Socket) => {
    runtime = socket;
    socket.on("error", () => undefined).write(SWITCH);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  const clock = new SteppedClock();
  const tunnels = new Tunnels({ limit: 1, idleTimeoutMs: IDLE_MS, clock });
  const client = new SlowClient();
  const request = new IncomingMessage(new Socket());
  request.rawHeaders = ["Connection", "Upgrade", "Upgrade", "x"];
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  const upgrade = { socket: client, head: Buffer.alloc(0), take: () => undefined };
  const passage = rawPassthrough(request, (offered) => offered);
  await tunnels.connect(new ServerResponse(request), upgrade, url, passage, podUid("uid-web"));
  ok(runtime !== undefined);
  return { client, runtime, tunnels, clock };
}

async function untilFinished(client: SlowClient): Promise<void> {
  while (!client.writableFinished) {
    client.release();
    await nextTurn();
  }
}

test("the runtime's last bytes reach a slow client; then the client has a time limit to disconnect", async (t) => {
  const { client, runtime, tunnels, clock } = await joined(t);
  runtime.end("last words");
  await turns();
  clock.step(2 * LINGER_MS);
  equal(client.destroyed, false);
  await untilFinished(client);
  equal(client.body, "last words");
  equal(tunnels.size, 1);
  clock.step(LINGER_MS);
  equal(client.destroyed, true);
  equal(tunnels.size, 0);
  equal(clock.pending, 0);
});

test("the runtime's last bytes reach a client whose input the runtime takes no more", async (t) => {
  const { client, runtime, tunnels } = await joined(t);
  client.release();
  await nextTurn();
  // The bytes and the reset lie in the kernel when the client's input is written.
  runtime.write("last words");
  runtime.resetAndDestroy();
  client.push("input");
  await untilFinished(client);
  equal(client.body, "last words");
  client.destroy();
  await nextTurn();
  equal(tunnels.size, 0);
});

test("the runtime's last bytes reach a slow client although the runtime resets the connection", async (t) => {
  const { client, runtime, tunnels } = await joined(t);
  // The client has not taken the headers: these bytes wait.
  runtime.write("first ");
  await turns();
  runtime.write("last words");
  runtime.resetAndDestroy();
  await turns();
  await untilFinished(client);
  equal(client.body, "first last words");
  client.destroy();
  await nextTurn();
  equal(tunnels.size, 0);
});

test("a stream ends when nothing has moved for its idle time, and not before", async (t) => {
  const { client, runtime, tunnels, clock } = await joined(t);
  client.release();
  clock.step(IDLE_MS - 1);
  equal(client.destroyed, false, "nothing has moved from the beginning");
  runtime.write("words");
  while (client.body === "") {
    client.release();
    await nextTurn();
  }
  clock.step(IDLE_MS - 1);
  equal(client.destroyed, false, "less than the idle time after the words");
  clock.step(IDLE_MS / 4);
  equal(client.destroyed, true, "a quarter of the idle time later");
  await nextTurn();
  equal(tunnels.size, 0);
});
