// WebSocket frames of a client: in any cut, and what is none.
import { deepEqual, equal, throws } from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { FrameReader, WebSocketError } from "../../../../src/workers/server/streams/websocket/frame-reader.js";
import { closeFrame, messageHead, pongFrame } from "../../../../src/workers/server/streams/websocket/frames.js";
import { cut } from "../../../support/cut.js";
import { clientFrame } from "../../../support/websocket.js";

interface Seen {
  messages: Buffer[];
  pings: string[];
  closes: number;
}

function reader(text = true): { seen: Seen; push: (chunk: Buffer) => void } {
  const seen: Seen = { messages: [], pings: [], closes: 0 };
  let parts: Buffer[] = [];
  const frames = new FrameReader(
    {
      onData: (part, { first, last }) => {
        equal(first, parts.length === 0);
        parts.push(Buffer.from(part));
        if (!last) return;
        seen.messages.push(Buffer.concat(parts));
        parts = [];
      },
      onPing: (payload) => seen.pings.push(payload.toString("latin1")),
      onClose: () => seen.closes++,
    },
    text,
  );
  return { seen, push: (chunk) => frames.push(Buffer.from(chunk)) };
}

const bytes = (max: number): fc.Arbitrary<Buffer> =>
  fc.uint8Array({ maxLength: max, size: "max" }).map((array) => Buffer.from(array));

test("messages come as they were sent, however they are cut into frames and chunks, with pings between", () => {
  const message = fc.array(fc.tuple(bytes(300), fc.option(bytes(125))), { minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(
      fc.array(message, { maxLength: 4 }),
      fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1 }),
      fc.integer({ min: 0, max: 2 ** 32 - 1 }),
      (messages, cuts, mask) => {
        const wire = messages.flatMap((frames) =>
          frames.flatMap(([payload, ping], index) => [
            clientFrame(index === 0 ? 2 : 0, payload, { fin: index === frames.length - 1, mask }),
            ...(ping === null ? [] : [clientFrame(9, ping, { mask })]),
          ]),
        );
        const { seen, push } = reader();
        for (const part of cut(Buffer.concat(wire), cuts)) push(part);
        deepEqual(
          seen.messages.map(String),
          messages.map((frames) => String(Buffer.concat(frames.map(([payload]) => payload)))),
        );
        const pings = messages.flatMap((frames) => frames.flatMap(([, ping]) => (ping === null ? [] : [ping])));
        deepEqual(
          seen.pings,
          pings.map((ping) => ping.toString("latin1")),
        );
      },
    ),
    { numRuns: 60 },
  );
});

test("a message of 200,000 bytes is passed on as it comes, not kept", () => {
  const sizes: number[] = [];
  const frames = new FrameReader(
    { onData: (part) => sizes.push(part.length), onPing: () => undefined, onClose: () => undefined },
    false,
  );
  const wire = clientFrame(2, Buffer.alloc(200_000), { mask: 7 });
  for (let at = 0; at < wire.length; at += 50_000) frames.push(wire.subarray(at, at + 50_000));
  deepEqual(sizes, [49_986, 50_000, 50_000, 50_000, 14]);
});

const CLOSED = { mask: 1 };
const garbage: [what: string, wire: Buffer, code: number][] = [
  ["not masked", Buffer.of(0x82, 1, 0), 1002],
  ["an extension's bit", Buffer.of(0xc2, 0x81, 0, 0, 0, 0, 0), 1002],
  ["an unknown kind of data", clientFrame(3, Buffer.alloc(1), CLOSED), 1002],
  ["an unknown kind of control", clientFrame(11, Buffer.alloc(1), CLOSED), 1002],
  ["a ping in parts", clientFrame(9, Buffer.alloc(1), { ...CLOSED, fin: false }), 1002],
  ["a ping of 126 bytes", clientFrame(9, Buffer.alloc(126), CLOSED), 1002],
  ["half a status code", clientFrame(8, Buffer.alloc(1), CLOSED), 1002],
  ["the rest of no message", clientFrame(0, Buffer.alloc(1), CLOSED), 1002],
  [
    "a message within another",
    Buffer.concat([
      clientFrame(2, Buffer.alloc(1), { ...CLOSED, fin: false }),
      clientFrame(2, Buffer.alloc(1), CLOSED),
    ]),
    1002,
  ],
  ["more bytes than there are", Buffer.of(0x82, 0xff, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0), 1002],
  ["text where bytes are spoken", clientFrame(1, Buffer.alloc(1), CLOSED), 1003],
];
for (const [what, wire, code] of garbage) {
  test(`refused: ${what}`, () => {
    const { push } = reader(false);
    throws(
      () => push(wire),
      (error) => error instanceof WebSocketError && error.code === code,
    );
  });
}

test("random bytes do nothing worse", () => {
  fc.assert(
    fc.property(bytes(400), (chunk) => {
      try {
        reader(false).push(chunk);
      } catch (error) {
        if (!(error instanceof WebSocketError)) throw error;
      }
    }),
  );
});

test("a close frame, with a code and without", () => {
  const { seen, push } = reader();
  push(clientFrame(8, Buffer.alloc(0), CLOSED));
  push(clientFrame(8, Buffer.of(3, 232), CLOSED));
  equal(seen.closes, 2);
});

test("what is written: short, longer, longest; a pong, a close", () => {
  deepEqual(messageHead(2), Buffer.of(0x82, 2));
  deepEqual(messageHead(125, 1), Buffer.of(0x82, 126, 0, 126, 1));
  deepEqual(messageHead(65_535), Buffer.of(0x82, 126, 0xff, 0xff));
  deepEqual(messageHead(65_535, 3), Buffer.of(0x82, 127, 0, 0, 0, 0, 0, 1, 0, 0, 3));
  deepEqual(pongFrame(Buffer.of(9)), Buffer.of(0x8a, 1, 9));
  deepEqual(closeFrame(1000), Buffer.of(0x88, 2, 3, 232));
});
