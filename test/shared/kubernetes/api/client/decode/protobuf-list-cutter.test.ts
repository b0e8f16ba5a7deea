// A list in protobuf is cut into its items, wherever the connection cuts it.

import { deepEqual, equal, ok, throws } from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { OBJECT_LIMIT, SHELL_LIMIT } from "../../../../../../src/shared/kubernetes/api/client/decode/oversized.js";
import { ProtobufListCutter } from "../../../../../../src/shared/kubernetes/api/client/decode/protobuf-list-cutter.js";
import { enveloped } from "../../../../../../src/shared/kubernetes/api/protobuf/objects.js";
import { ProtobufDecodeError } from "../../../../../../src/shared/kubernetes/api/protobuf/reader.js";

function field(number: number, body: Buffer | string): Buffer {
  const bytes = Buffer.from(body);
  const head = [(number << 3) | 2];
  let rest = bytes.length;
  for (; rest > 0x7f; rest >>>= 7) head.push((rest & 0x7f) | 0x80);
  return Buffer.concat([Buffer.from([...head, rest]), bytes]);
}

const METADATA = field(1, "meta");
const list = (...fields: Buffer[]): Buffer => enveloped("v1", "PodList", Buffer.concat(fields));

interface Cut {
  items: string[];
  rest: { kind: string; metadata: string };
}

function cut(bytes: Buffer, size = bytes.length, onOversized?: () => unknown): Cut {
  const cutter = new ProtobufListCutter(onOversized);
  const items: string[] = [];
  for (let at = 0; at < bytes.length; at += size) {
    for (const item of cutter.push(bytes.subarray(at, at + size))) items.push(item.toString());
  }
  const { kind, metadata } = cutter.rest();
  return { items, rest: { kind, metadata: metadata.toString() } };
}

const whole = (items: string[]): Cut => ({ items, rest: { kind: "PodList", metadata: "meta" } });

test("blocks of any size give the same items", () => {
  // Behind the list, an envelope has two texts that are empty; an unknown field and a number may be anywhere.
  const bytes = Buffer.concat([
    list(
      METADATA,
      field(2, "one"),
      field(2, ""),
      field(9, "later"),
      Buffer.from([0x18, 0x07]),
      field(2, "x".repeat(300)),
    ),
    field(3, ""),
    field(4, ""),
  ]);
  for (let size = 1; size <= bytes.length; size++) deepEqual(cut(bytes, size), whole(["one", "", "x".repeat(300)]));
});

test("a list may have no items, and end with an empty one", () => {
  deepEqual(cut(list(METADATA), 3), whole([]));
  deepEqual(cut(list(METADATA, field(2, "")), 1), whole([""]));
  deepEqual(cut(list(), 1), { items: [], rest: { kind: "PodList", metadata: "" } });
});

test("a list that is cut anywhere is an error", () => {
  const bytes = list(METADATA, field(2, "one"), field(2, "two"));
  for (let end = 0; end < bytes.length; end++)
    throws(() => cut(bytes.subarray(0, end), 4), ProtobufDecodeError, `${end}`);
});

test("an item that is too large is skipped and reported, and the next one is read", () => {
  let reported = 0;
  const bytes = list(METADATA, field(2, Buffer.alloc(OBJECT_LIMIT + 1)), field(2, "small"));
  deepEqual(
    cut(bytes, 64 * 1024, () => reported++),
    whole(["small"]),
  );
  equal(reported, 1);
});

test("more around the items than any list has is an error", () => {
  throws(() => cut(list(field(1, Buffer.alloc(SHELL_LIMIT + 1)))), RangeError);
});

for (const [what, bytes] of [
  ["JSON", Buffer.from('{"items":[]}')],
  ["a value longer than the list", list(Buffer.from([0x12, 0x7f, 0x00]))],
  ["a length of too many bytes", list(Buffer.from([0x12, ...Array<number>(20).fill(0xff)]))],
  ["a number of 64 bits", list(Buffer.from([0x11, 0x01, 0, 0, 0, 0, 0, 0, 0]))],
] as const) {
  test(`${what} is no list`, () => throws(() => cut(bytes, 5), ProtobufDecodeError));
}

test("any bytes are a list or fail with ProtobufDecodeError", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), fc.integer({ min: 1, max: 50 }), (tail, size) => {
      try {
        cut(Buffer.concat([list(METADATA, field(2, "one")), tail]), size);
        cut(enveloped("v1", "PodList", tail), size);
      } catch (error) {
        ok(error instanceof ProtobufDecodeError || error instanceof RangeError, String(error));
      }
    }),
    { numRuns: 1000 },
  );
});
