// The server's end of a WebSocket, over a client that takes what it is sent when the test lets it.

import { deepEqual, equal, ok } from "node:assert/strict";
import { once } from "node:events";
import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { Duplex } from "node:stream";
import { test } from "node:test";
import { messageOf, readMessage } from "../../../../src/workers/server/streams/websocket/channels.js";
import { WebSocketEnd } from "../../../../src/workers/server/streams/websocket/web-socket.js";
import { SteppedClock } from "../../../support/stepped-clock.js";
import { clientFrame } from "../../../support/websocket.js";

class SlowClient extends Duplex {
  taken: Buffer = Buffer.alloc(0);
  slow = false;
  private waiting: (() => void) | undefined;

  override _read(): void {
    // The test says what comes.
  }
  override _write(part: Buffer, _encoding: string, done: () => void): void {
    this.taken = Buffer.concat([this.taken, part]);
    if (this.slow) this.waiting = done;
    else done();
  }
  release(): void {
    this.slow = false;
    this.waiting?.();
  }
}

/** All resources of ws for the connection, including its timer, end with it. */
async function gone(client: SlowClient): Promise<void> {
  client.destroy();
  if (!client.closed) await once(client, "close");
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const turns = async (count: number): Promise<void> => {
  for (let i = 0; i < count; i++) await turn();
};

interface Opened {
  client: SlowClient;
  end: WebSocketEnd;
  events: string[];
  clock: SteppedClock;
}

function open(head: Buffer = Buffer.alloc(0)): Opened {
  const client = new SlowClient();
  const events: string[] = [];
  const clock = new SteppedClock();
  const end = new WebSocketEnd(client, {
    text: true,
    clock,
    events: {
      onMessage: (message) => events.push(message.toString("latin1")),
      onEnd: () => events.push("end"),
      onDrain: () => events.push("drain"),
    },
  });
  const request = new IncomingMessage(new Socket());
  request.method = "GET";
  request.headers = {
    upgrade: "websocket",
    "sec-websocket-version": "13",
    // RFC 6455, section 1.3.
    "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
    "sec-websocket-protocol": "SPDY/3.1+a.k8s.io, SPDY/3.1+a.k8s.io",
    "sec-websocket-extensions": "permessage-deflate",
  };
  end.open(request, head, "SPDY/3.1+a.k8s.io");
  equal(
    client.taken.toString(),
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" +
      "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\nSec-WebSocket-Protocol: SPDY/3.1+a.k8s.io\r\n\r\n",
  );
  client.taken = Buffer.alloc(0);
  return { client, end, events, clock };
}

test("bytes that came with the request come first; messages are sent whole, unmasked, in order", async () => {
  const { client, end, events } = open(clientFrame(2, Buffer.from("one")));
  client.push(clientFrame(2, Buffer.from("two"), { mask: 7 }));
  await turns(4);
  deepEqual(events, ["one", "two"]);
  equal(end.send(Buffer.from("out")), true);
  equal(end.send(Buffer.alloc(0)), true);
  end.close(1000);
  end.send(Buffer.from("too late"));
  deepEqual(client.taken, Buffer.from("\x82\x03out\x82\0\x88\x02\x03\xe8", "latin1"));
  await gone(client);
});

test("a client that is slow holds the sender back, and is left its time after the close frame, however long", async (t) => {
  const timers = t.mock.method(globalThis, "setTimeout");
  const { client, end, events } = open();
  client.slow = true;
  equal(end.send(Buffer.alloc(100_000)), false);
  client.push(clientFrame(9, Buffer.from("ping")));
  await turns(2);
  end.close(1000);
  const [delay] = timers.mock.calls.map(({ arguments: [, ms] }) => ms ?? 0);
  ok(timers.mock.callCount() === 1 && delay !== undefined && delay > 20 * 24 * 3_600_000, String(delay));
  deepEqual([client.destroyed, client.writableFinished, events], [false, false, []]);
  client.release();
  await turn();
  equal(client.writableFinished, true);
  equal(client.taken.subarray(-10).toString("latin1"), "\x8a\x04ping\x88\x02\x03\xe8");
  await gone(client);
});

test("the client's close frame is its end, though it stays and reads nothing; later frames are dropped", async () => {
  const { client, end, events } = open();
  client.slow = true;
  end.send(Buffer.alloc(100_000));
  client.push(Buffer.concat([clientFrame(8, Buffer.alloc(0)), clientFrame(2, Buffer.from("more"))]));
  await turn();
  client.push(clientFrame(2, Buffer.from("and more")));
  await turn();
  deepEqual([events, client.destroyed], [["end"], false]);
  await gone(client);
});

test("each frame of one read has a turn of the loop, and all are handled before the end of their client", async () => {
  const { client, events, clock } = open();
  const frames = Array.from({ length: 1000 }, () => clientFrame(2, Buffer.from("x")));
  client.push(Buffer.concat(frames));
  client.push(null);
  await turns(20);
  ok(events.length <= 21, `${events.length} frames in 20 turns`);
  while (events.at(-1) !== "end") {
    clock.step(1);
    await turn();
  }
  equal(events.length, 1001);
  await gone(client);
});

test("a close frame behind other frames ends its client after them", async () => {
  const { client, events } = open();
  client.push(Buffer.concat([clientFrame(2, Buffer.from("x")), clientFrame(8, Buffer.alloc(0))]));
  await turns(4);
  deepEqual(events, ["x", "end"]);
  await gone(client);
});

test("more pings than waiting responses close the connection", async () => {
  const { client, end, events, clock } = open();
  client.slow = true;
  end.send(Buffer.alloc(100_000));
  for (let i = 0; i < 1025; i++) {
    equal(client.destroyed, false, String(i));
    client.push(clientFrame(9, Buffer.alloc(0)));
    await turns(2);
  }
  while (events.length === 0) {
    clock.step(1);
    await turn();
  }
  deepEqual([client.destroyed, events], [true, ["end"]]);
});

test("a message has its channel in front", () => {
  const seen: unknown[] = [];
  const events = {
    onData: (channel: number, data: Buffer) => seen.push([channel, data.toString()]),
    onClose: (channel: number) => seen.push(channel),
  };
  for (const message of [messageOf(3, Buffer.from("abc")), Buffer.of(255, 4), Buffer.of(0), Buffer.alloc(0)]) {
    readMessage(message, events);
  }
  deepEqual(seen, [[3, "abc"], 4]);
});
