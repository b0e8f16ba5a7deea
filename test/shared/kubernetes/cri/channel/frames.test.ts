// Frames and messages, however their bytes are cut; and bytes of an enemy.

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { BlockReader } from "../../../../../src/shared/kubernetes/cri/channel/block-reader.js";
import { FrameReader } from "../../../../../src/shared/kubernetes/cri/channel/frames/frame-reader.js";
import { TYPE } from "../../../../../src/shared/kubernetes/cri/channel/frames/frame-types.js";
import { ConnectionError } from "../../../../../src/shared/kubernetes/cri/channel/frames/http2-errors.js";
import { dataHead, headersFrames } from "../../../../../src/shared/kubernetes/cri/channel/frames/write-frames.js";
import { MessageReader, withPrefix } from "../../../../../src/shared/kubernetes/cri/channel/message-reader.js";

/** `bytes` in pieces whose lengths the numbers choose. */
function pieces(bytes: Buffer, lengths: readonly number[]): Buffer[] {
  const parts: Buffer[] = [];
  for (let offset = 0, turn = 0; offset < bytes.length; turn++) {
    const length = lengths.length === 0 ? bytes.length : (lengths[turn % lengths.length] ?? 1);
    parts.push(bytes.subarray(offset, offset + length));
    offset += length;
  }
  return parts;
}

const someLengths = fc.array(fc.integer({ min: 1, max: 40_000 }), { maxLength: 20 });
const someTinyLengths = fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 20 });
const cuts = fc.oneof(someLengths, someTinyLengths);

test("frames are the same however their bytes are cut", () => {
  const payloads = fc.array(fc.uint8Array({ maxLength: 16_384, size: "max" }), { maxLength: 6 });
  fc.assert(
    fc.property(payloads, cuts, (bodies, lengths) => {
      const sent = bodies.map((body, at) => Buffer.concat([dataHead(2 * at + 1, body.length, at % 2 === 0), body]));
      const seen: Buffer[] = [];
      const reader = new FrameReader(({ payload, type, flags, stream }) => {
        assert.deepEqual([type, flags, stream], [TYPE.DATA, seen.length % 2 === 0 ? 1 : 0, 2 * seen.length + 1]);
        seen.push(Buffer.from(payload));
      });
      for (const piece of pieces(Buffer.concat(sent), lengths)) reader.push(piece);
      assert.deepEqual(
        seen,
        bodies.map((body) => Buffer.from(body)),
      );
    }),
    { numRuns: 60 },
  );
});

test("a block of fields is the same in one frame and in many", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 500 }), fc.integer({ min: 40, max: 600 }), (bytes, maxBytes) => {
      const blocks = new BlockReader();
      const results: unknown[] = [];
      const reader = new FrameReader((frame) => results.push(blocks.read(frame)));
      reader.push(Buffer.concat(headersFrames(7, Buffer.from(bytes), true, maxBytes)));
      assert.deepEqual(results.at(-1), { stream: 7, isEnd: true, bytes: Buffer.from(bytes) });
      assert.ok(results.slice(0, -1).every((result) => result === "part"));
    }),
  );
});

test("arbitrary bytes become frames or are refused as a fault of the connection", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 2000 }), cuts, (bytes, lengths) => {
      const blocks = new BlockReader();
      const reader = new FrameReader((frame) => blocks.read(frame));
      try {
        for (const piece of pieces(Buffer.from(bytes), lengths)) reader.push(piece);
      } catch (error) {
        assert.ok(error instanceof ConnectionError);
      }
    }),
    { numRuns: 2000 },
  );
});

test("a frame that is too long is refused by its head", () => {
  const reader = new FrameReader(() => assert.fail("no frame is complete"));
  reader.push(Buffer.from([0, 64]));
  assert.throws(() => reader.push(Buffer.from([1, 0, 0, 0, 0, 0, 1])), /a frame of 16385 bytes/);
});

const someMessages = fc.array(fc.uint8Array({ maxLength: 9000, size: "max" }), { maxLength: 12 });

test("messages are the same however their bytes are cut, read at once or later", () => {
  fc.assert(
    fc.property(someMessages, cuts, fc.integer({ min: 1, max: 9 }), (messages, lengths, readEvery) => {
      const reader = new MessageReader(10_000);
      const seen: Buffer[] = [];
      const read = (): void => {
        for (let message = reader.next(); message !== undefined; message = reader.next()) seen.push(message);
      };
      const sent = Buffer.concat(messages.map((message) => withPrefix(Buffer.from(message))));
      pieces(sent, lengths).forEach((piece, turn) => {
        const borrowed = Buffer.from(piece);
        reader.push(borrowed);
        if (turn % readEvery === 0) read();
        reader.keep();
        borrowed.fill(0xee);
      });
      read();
      assert.deepEqual(
        seen,
        messages.map((message) => Buffer.from(message)),
      );
      assert.equal(reader.held, 0);
    }),
    { numRuns: 150 },
  );
});

test("a message that is announced as too long is refused before it arrives", () => {
  const reader = new MessageReader(1000);
  reader.push(Buffer.from([0, 0, 0, 3, 233]));
  assert.throws(() => reader.next(), /larger than max \(1001 vs 1000\)/);
});
