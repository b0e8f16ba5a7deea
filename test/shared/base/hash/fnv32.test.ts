import assert from "node:assert/strict";
import { test } from "node:test";
import { fnv32 } from "../../../../src/shared/base/hash/fnv32.js";

for (const [text, hash] of [
  ["", 0x811c9dc5],
  ["a", 0xe40c292c],
  ["foobar", 0xbf9cf968],
] as const) {
  test(`"${text}", as the algorithm's own test vectors have it`, () => assert.equal(fnv32(text), hash));
}

test("text is taken as UTF-8", () => {
  assert.notEqual(fnv32("é"), fnv32("\u00e9".normalize("NFD")));
  assert.equal(fnv32("é"), fnv32(Buffer.from([0xc3, 0xa9]).toString("utf8")));
});
