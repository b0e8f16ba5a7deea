import assert from "node:assert/strict";
import { test } from "node:test";
import { hasMoreFields } from "../../../../src/shared/kubernetes/plugins/has-more-fields.js";

test("fields of every kind count, and fields of nested messages do not", () => {
  // A varint, a fixed64, a message of four bytes, a fixed32.
  const fields = Buffer.from([
    0x08, 0x96, 0x01, 0x11, 0, 0, 0, 0, 0, 0, 0, 0, 0x1a, 4, 0x0a, 0, 0x0a, 0, 0x25, 0, 0, 0, 0,
  ]);
  assert.equal(hasMoreFields(fields, 4), false);
  assert.equal(hasMoreFields(fields, 3), true);
  assert.equal(hasMoreFields(Buffer.alloc(0), 0), false);
  assert.equal(hasMoreFields(Buffer.alloc(2_000_000, Buffer.from([0x0a, 0])), 16_384), true);
  assert.throws(() => hasMoreFields(Buffer.from([0x0a, 200]), 5));
});
