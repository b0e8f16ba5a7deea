// Frames of a watch in protobuf, wherever the connection cuts them.

import { deepEqual, equal, throws } from "node:assert/strict";
import { test } from "node:test";
import { FrameCutter } from "../../../../../../src/shared/kubernetes/api/client/decode/frames.js";
import { OBJECT_LIMIT } from "../../../../../../src/shared/kubernetes/api/client/decode/oversized.js";

function frame(body: Buffer): Buffer {
  const head = Buffer.alloc(4);
  head.writeUInt32BE(body.length);
  return Buffer.concat([head, body]);
}

function cut(bytes: Buffer, size: number, onOversized?: () => unknown): string[] {
  const cutter = new FrameCutter(onOversized);
  const frames: string[] = [];
  for (let at = 0; at < bytes.length; at += size) {
    for (const one of cutter.push(bytes.subarray(at, at + size))) frames.push(one.toString());
  }
  return frames;
}

test("blocks of any size give the same frames; half a frame at the end is none", () => {
  const bytes = Buffer.concat([frame(Buffer.from("one")), frame(Buffer.alloc(0)), frame(Buffer.from("three"))]);
  for (let size = 1; size <= bytes.length; size++) deepEqual(cut(bytes, size), ["one", "", "three"]);
  deepEqual(cut(bytes.subarray(0, -1), 4), ["one", ""]);
});

test("a frame that is too large is skipped and reported, and the next one is read", () => {
  let reported = 0;
  const bytes = Buffer.concat([frame(Buffer.alloc(OBJECT_LIMIT + 1)), frame(Buffer.from("small"))]);
  deepEqual(
    cut(bytes, 64 * 1024, () => reported++),
    ["small"],
  );
  equal(reported, 1);
});

test("a length that no watch has is an error", () => {
  throws(() => cut(Buffer.from('{"type":"ADDED"}'), 4), RangeError);
});
