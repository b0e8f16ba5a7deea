// A server that breaks HTTP/2, floods, or lies. Each call ends, by its deadline at the latest, and not with OK. What
// our channel reports, holds and answers is bounded.

import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { describe, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { Metadata } from "@grpc/grpc-js";
import fc from "fast-check";
import { MAX_BLOCK_BYTES, MAX_CONTINUATIONS } from "../../../../../src/shared/kubernetes/cri/channel/block-reader.js";
import { MAX_UNSENT_BYTES } from "../../../../../src/shared/kubernetes/cri/channel/connection.js";
import { TYPE } from "../../../../../src/shared/kubernetes/cri/channel/frames/frame-types.js";
import { literal } from "../../../../../src/shared/kubernetes/cri/channel/hpack/encode.js";
import { MAX_IDLE_FRAMES } from "../../../../../src/shared/kubernetes/cri/channel/idle-frames.js";
import { withPrefix } from "../../../../../src/shared/kubernetes/cri/channel/message-reader.js";
import { CHANNELS, TestClient, type ChannelName } from "./channels.js";
import { newSocket, startHostile } from "./servers.js";

const frame = (type: number, flags: number, stream: number, payload: Buffer = Buffer.alloc(0)): Buffer => {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
};
const u32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};
const setting = (name: number, value: number): Buffer => Buffer.concat([Buffer.from([0, name]), u32(value)]);
const SETTINGS = frame(TYPE.SETTINGS, 0, 0);
const PING = frame(TYPE.PING, 0, 0, Buffer.alloc(8));
const HEAD = Buffer.concat([Buffer.from([0x88]), literal("content-type", "application/grpc")]);
const HEADERS = frame(TYPE.HEADERS, 4, 1, HEAD);
const OK_TRAILERS = frame(TYPE.HEADERS, 5, 1, literal("grpc-status", "0"));
const repeat = (bytes: Buffer, count: number): Buffer => Buffer.concat(Array<Buffer>(count).fill(bytes));

interface Case {
  /** Sent behind the first SETTINGS, once the request is here. */
  bytes: Buffer;
  /** Without it the bytes are the first ones of the connection. */
  isFirst?: true;
  /** The fault that the own channel reports; undefined: the connection goes on. */
  fault: RegExp | undefined;
  /** Status codes that calls on the own channel may end with. */
  codes: number[];
}

const connection = (bytes: Buffer, fault: RegExp): Case => ({ bytes, fault, codes: [14] });
const stream = (bytes: Buffer, ...codes: number[]): Case => ({ bytes, fault: undefined, codes });

const CASES: Record<string, Case> = {
  "a server of HTTP/1": {
    isFirst: true,
    bytes: Buffer.from("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"),
    fault: /answers with HTTP\/1/,
    codes: [14],
  },
  "a first frame that is no SETTINGS": {
    isFirst: true,
    bytes: PING,
    fault: /the first frame is no SETTINGS/,
    codes: [14],
  },
  "a frame that is too long": connection(frame(TYPE.DATA, 0, 1, Buffer.alloc(16_385)), /a frame of 16385 bytes/),
  "half a setting": connection(frame(TYPE.SETTINGS, 0, 0, Buffer.alloc(5)), /half an entry/),
  "settings of a stream": connection(frame(TYPE.SETTINGS, 0, 1), /SETTINGS frame of a stream/),
  "an acknowledgement with settings": connection(frame(TYPE.SETTINGS, 1, 0, setting(4, 1)), /acknowledgement/),
  "a window above the limit in the settings": connection(frame(TYPE.SETTINGS, 0, 0, setting(4, 2 ** 31)), /window/),
  "a frame size below the limit in the settings": connection(
    frame(TYPE.SETTINGS, 0, 0, setting(5, 100)),
    /frames of 100/,
  ),
  "a setting that asks for pushes": connection(frame(TYPE.SETTINGS, 0, 0, setting(2, 1)), /pushed/),
  "a pushed response": connection(frame(TYPE.PUSH_PROMISE, 4, 1, Buffer.concat([u32(2), HEAD])), /pushed/),
  "a short PING": connection(frame(TYPE.PING, 0, 0, Buffer.alloc(7)), /PING/),
  "a PING of a stream": connection(frame(TYPE.PING, 0, 1, Buffer.alloc(8)), /PING/),
  "a short GOAWAY": connection(frame(TYPE.GOAWAY, 0, 0, Buffer.alloc(7)), /GOAWAY/),
  "a short RST_STREAM": connection(frame(TYPE.RST_STREAM, 0, 1, Buffer.alloc(3)), /RST_STREAM/),
  "data of a stream that was never opened": connection(frame(TYPE.DATA, 0, 99, Buffer.alloc(1)), /never opened/),
  "fields of a stream of the server's": connection(frame(TYPE.HEADERS, 4, 2, HEAD), /never opened/),
  "padding that is longer than its frame": connection(
    Buffer.concat([HEADERS, frame(TYPE.DATA, 8, 1, Buffer.from([200, 1]))]),
    /padding/,
  ),
  "a continuation without a beginning": connection(frame(TYPE.CONTINUATION, 4, 1, HEAD), /interrupted/),
  "a block of fields that another frame interrupts": connection(
    Buffer.concat([frame(TYPE.HEADERS, 0, 1, HEAD), PING]),
    /interrupted/,
  ),
  "a continuation of another stream": connection(
    Buffer.concat([frame(TYPE.HEADERS, 0, 1, HEAD), frame(TYPE.CONTINUATION, 4, 3)]),
    /interrupted/,
  ),
  "fields that cannot be decoded": connection(
    frame(TYPE.HEADERS, 4, 1, Buffer.from([0xff, 0xff, 0xff])),
    /a block of fields/,
  ),
  "a window of the connection that overflows": connection(
    frame(TYPE.WINDOW_UPDATE, 0, 0, u32(2 ** 31 - 1)),
    /too large/,
  ),
  "an update of the connection's window by nothing": connection(frame(TYPE.WINDOW_UPDATE, 0, 0, u32(0)), /0 bytes/),
  "windows of streams that overflow by a setting": connection(
    Buffer.concat([
      frame(TYPE.WINDOW_UPDATE, 0, 1, u32(2 ** 31 - 70_000)),
      frame(TYPE.SETTINGS, 0, 0, setting(4, 2 ** 31 - 1)),
    ]),
    /too large/,
  ),
  "a flood of empty continuations": connection(
    Buffer.concat([frame(TYPE.HEADERS, 0, 1, HEAD), repeat(frame(TYPE.CONTINUATION, 0, 1), MAX_CONTINUATIONS + 1)]),
    /continuations/,
  ),
  "a block of fields above the limit": connection(
    Buffer.concat([
      frame(TYPE.HEADERS, 0, 1, HEAD),
      repeat(frame(TYPE.CONTINUATION, 0, 1, Buffer.alloc(16_000)), Math.ceil(MAX_BLOCK_BYTES / 16_000)),
    ]),
    /bytes or/,
  ),
  "a flood of PING": connection(repeat(PING, MAX_IDLE_FRAMES + 200), /bring no call further|does not read/),
  "a flood of SETTINGS": connection(repeat(SETTINGS, MAX_IDLE_FRAMES + 200), /bring no call further|does not read/),
  "a flood of empty DATA": connection(
    Buffer.concat([HEADERS, repeat(frame(TYPE.DATA, 0, 1), MAX_IDLE_FRAMES + 200)]),
    /bring no call further/,
  ),
  "a flood of WINDOW_UPDATE": connection(
    repeat(frame(TYPE.WINDOW_UPDATE, 0, 0, u32(1)), MAX_IDLE_FRAMES + 200),
    /bring no call further/,
  ),
  "a flood of unknown frames": connection(
    repeat(frame(77, 0, 0, Buffer.alloc(10)), MAX_IDLE_FRAMES + 200),
    /bring no call further/,
  ),
  "a flood of informational responses": connection(
    repeat(frame(TYPE.HEADERS, 4, 1, literal(8, "103")), MAX_IDLE_FRAMES + 200),
    /bring no call further/,
  ),
  "a flood of data behind the call's end": connection(
    Buffer.concat([HEADERS, OK_TRAILERS, repeat(frame(TYPE.DATA, 0, 1, Buffer.alloc(1)), MAX_IDLE_FRAMES + 200)]),
    /bring no call further/,
  ),
  "data before the fields": stream(frame(TYPE.DATA, 0, 1, withPrefix(Buffer.from("x"))), 13),
  "a window of the stream that overflows": stream(frame(TYPE.WINDOW_UPDATE, 0, 1, u32(2 ** 31 - 1)), 13),
  "an update of the stream's window by nothing": stream(frame(TYPE.WINDOW_UPDATE, 0, 1, u32(0)), 13),
  "a second response": stream(Buffer.concat([HEADERS, HEADERS]), 13),
  "fields in capital letters": stream(frame(TYPE.HEADERS, 5, 1, literal("Grpc-Status", "0")), 13),
  "a field with a line feed": stream(frame(TYPE.HEADERS, 5, 1, literal("grpc-status", "0\nE forged line")), 13),
  "a name with a space": stream(frame(TYPE.HEADERS, 5, 1, literal("grpc status", "0")), 13),
  "a list of fields above the limit": stream(
    frame(TYPE.HEADERS, 5, 1, Buffer.concat([literal("grpc-status", "0"), repeat(Buffer.from([0x90]), 3000)])),
    8,
  ),
  "a compressed message": stream(Buffer.concat([HEADERS, frame(TYPE.DATA, 0, 1, Buffer.from([1, 0, 0, 0, 1, 9]))]), 8),
  "a message of 4 GiB by its prefix": stream(
    Buffer.concat([HEADERS, frame(TYPE.DATA, 0, 1, Buffer.from([0, 255, 255, 255, 255]))]),
    8,
  ),
  "a second message of a unary call": stream(
    Buffer.concat([HEADERS, repeat(frame(TYPE.DATA, 0, 1, withPrefix(Buffer.from("x"))), 2), OK_TRAILERS]),
    4,
  ),
  "a second message of 4 GiB by its prefix": stream(
    Buffer.concat([
      HEADERS,
      frame(TYPE.DATA, 0, 1, Buffer.concat([withPrefix(Buffer.from("x")), Buffer.from([0, 255, 255, 255, 255])])),
      OK_TRAILERS,
    ]),
    4,
  ),
  "no response at all": stream(Buffer.alloc(0), 4),
  "fields and then nothing": stream(HEADERS, 4),
  "half a frame": stream(HEADERS.subarray(0, 12), 4),
  "a status that is no number": stream(frame(TYPE.HEADERS, 5, 1, literal("grpc-status", "many")), 2),
};

/** Sends `bytes` when the request's HEADERS are here, or at once. */
function serve({ bytes, isFirst }: Case): (socket: Socket) => void {
  return (socket) => {
    if (isFirst === true) {
      socket.write(bytes);
      return;
    }
    socket.write(SETTINGS);
    let seen = Buffer.alloc(0);
    const onData = (data: Buffer): void => {
      seen = Buffer.concat([seen, data]);
      if (!seen.includes("/t.T/Echo")) return;
      socket.off("data", onData);
      socket.resume();
      socket.write(bytes);
    };
    socket.on("data", onData);
  };
}

/** The stock channel reads past some faults, or ends the call with another code: it must only end. */
function run(channel: ChannelName): void {
  for (const [title, hostile] of Object.entries(CASES)) {
    test(title, { timeout: 60_000 }, async (context) => {
      const path = await newSocket(context);
      await startHostile(context, path, serve(hostile));
      const client = new TestClient(context, channel, path);
      const { code } = await client.unary("/t.T/Echo", Buffer.from("x"), {
        deadlineMs: channel === "stock" ? 500 : 3000,
      });
      if (channel === "stock") {
        assert.notEqual(code, 0);
        return;
      }
      // The end of a call may come before the fault behind it.
      if (hostile.codes.includes(4) && hostile.fault === undefined) assert.equal(code, 4);
      for (const end = performance.now() + 20_000; hostile.fault !== undefined && client.faults.length === 0;) {
        assert.ok(performance.now() < end, "the fault is reported");
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      assert.deepEqual(client.faults.length, hostile.fault === undefined ? 0 : 1, client.faults[0]?.message);
      if (hostile.fault !== undefined) assert.match(client.faults[0]?.message ?? "", hostile.fault);
      const expected = title === "a flood of data behind the call's end" ? [12] : hostile.codes;
      assert.ok(
        expected.some((one) => Object.is(one, code)),
        `${code} is none of ${expected.join()}`,
      );
    });
  }
}

for (const channel of CHANNELS) describe(`the ${channel} channel`, { concurrency: 8 }, () => run(channel));

test("fields that gRPC has not are passed over, and leave no line on the standard error", async (context) => {
  const written = context.mock.method(console, "error", () => undefined);
  const path = await newSocket(context);
  const strange = [
    literal("caf", "caf\xe9"),
    literal("a~b", "1"),
    literal("escape", "\x1b[31m"),
    literal("fine", "yes"),
  ];
  const head = frame(TYPE.HEADERS, 4, 1, Buffer.concat([HEAD, ...strange]));
  const message = frame(TYPE.DATA, 0, 1, withPrefix(Buffer.from("y")));
  await startHostile(context, path, serve(stream(Buffer.concat([head, message, OK_TRAILERS]), 0)));
  const { code, headers } = await new TestClient(context, "own", path).unary("/t.T/Echo");
  assert.equal(code, 0);
  assert.deepEqual([headers?.get("fine"), headers?.get("caf"), headers?.get("escape")], [["yes"], [], []]);
  assert.equal(written.mock.callCount(), 0);
});

test("a call behind a broken connection gets a new one", async (context) => {
  const path = await newSocket(context);
  let count = 0;
  await startHostile(context, path, (socket) => {
    count++;
    serve(
      count === 1
        ? connection(frame(TYPE.PING, 0, 0), /x/)
        : stream(Buffer.concat([HEADERS, frame(TYPE.DATA, 0, 1, withPrefix(Buffer.from("y"))), OK_TRAILERS]), 0),
    )(socket);
  });
  const client = new TestClient(context, "own", path);
  assert.equal((await client.unary("/t.T/Echo")).code, 14);
  const { code, messages } = await client.unary("/t.T/Echo");
  assert.deepEqual([code, messages.map(String)], [0, ["y"]]);
});

test("a peer that sends more than the stream's window loses the call, not the connection", async (context) => {
  const path = await newSocket(context);
  const block = frame(TYPE.DATA, 0, 1, Buffer.alloc(16_384));
  // Unread messages: the reader takes one and stops.
  const messages = Buffer.concat([HEADERS, frame(TYPE.DATA, 0, 1, withPrefix(Buffer.from("x"))), repeat(block, 70)]);
  await startHostile(context, path, serve(stream(messages, 0)));
  const client = new TestClient(context, "own", path);
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  const ended = client.stream("/t.T/Echo", undefined, { between: () => held, deadlineMs: 20_000 });
  await new Promise((resolve) => setTimeout(resolve, 300));
  release();
  const { code } = await ended;
  assert.equal(code, 13);
  assert.deepEqual(client.faults, []);
});

test("a runtime that ends each connection before it takes a call is not tried again at once", async (context) => {
  const path = await newSocket(context);
  let count = 0;
  const noStreams = frame(TYPE.SETTINGS, 0, 0, setting(3, 0));
  const goAway = frame(TYPE.GOAWAY, 0, 0, Buffer.alloc(8));
  await startHostile(context, path, (socket) => {
    // One after the other: by GOAWAY, and by the socket's end.
    if (count++ % 2 === 0) socket.write(Buffer.concat([noStreams, goAway]));
    else socket.end(noStreams);
    socket.resume();
  });
  const client = new TestClient(context, "own", path);
  const { code, details } = await client.unary("/t.T/Echo", Buffer.from("x"), { deadlineMs: 20_000 });
  assert.equal(code, 14);
  assert.match(details, /before it took a call/);
  await new Promise((resolve) => setTimeout(resolve, 500));
  assert.ok(count <= 10, `${count} connections`);
});

test("calls on a runtime that does not read wait, and what waits for it is bounded", async (context) => {
  const path = await newSocket(context);
  let received = 0;
  const sockets: Socket[] = [];
  await startHostile(context, path, (socket) => {
    socket.write(SETTINGS);
    socket.on("data", (data) => (received += data.length));
    socket.pause();
    sockets.push(socket);
  });
  const client = new TestClient(context, "own", path);
  const metadata = new Metadata();
  for (let at = 0; at < 4; at++) metadata.set(`field-${at}`, "x".repeat(16_000));
  for (let round = 0; round < 10; round++) {
    const calls = Array.from({ length: 20 }, () => client.unary("/t.T/Echo", undefined, { metadata, deadlineMs: 100 }));
    for (const { code } of await Promise.all(calls)) assert.equal(code, 4);
  }
  assert.equal(sockets.length, 1);
  for (const socket of sockets) socket.resume();
  let before = -1;
  for (; before !== received; await new Promise((resolve) => setTimeout(resolve, 200))) before = received;
  assert.ok(received < MAX_UNSENT_BYTES + 2 * 1024 * 1024, `${received} bytes`);
  assert.deepEqual(client.faults, []);
});

const someFrame = fc
  .tuple(
    fc.integer({ min: 0, max: 11 }),
    fc.integer({ min: 0, max: 255 }),
    fc.constantFrom(0, 1, 1, 1, 2, 3, 5),
    fc.uint8Array({ maxLength: 60 }),
  )
  .map(([type, flags, id, payload]) => frame(type, flags, id, Buffer.from(payload)));
const someBytes = fc.oneof(
  { weight: 6, arbitrary: someFrame },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      HEADERS,
      OK_TRAILERS,
      PING,
      SETTINGS,
      frame(TYPE.DATA, 0, 1, withPrefix(Buffer.from("abc"))),
    ),
  },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)) },
);

test("arbitrary frames and bytes end every call, and hold no memory", { timeout: 170_000 }, async (context) => {
  const path = await newSocket(context);
  let bytes: Buffer = Buffer.alloc(0);
  await startHostile(context, path, (socket) => {
    serve({ bytes, fault: undefined, codes: [] })(socket);
    socket.on("data", () => socket.destroySoon());
  });
  const before = process.memoryUsage().external;
  await fc.assert(
    fc.asyncProperty(fc.array(someBytes, { maxLength: 30 }), async (parts) => {
      bytes = Buffer.concat(parts);
      const client = new TestClient(context, "own", path);
      const { code } = await client.unary("/t.T/Echo", Buffer.from("x"), { deadlineMs: 10_000 });
      assert.ok(Number.isNaN(code) || code >= 0);
      client.client.close();
      await turn();
    }),
    { numRuns: 150 },
  );
  globalThis.gc?.();
  assert.ok(process.memoryUsage().external - before < 64 * 1024 * 1024);
});
