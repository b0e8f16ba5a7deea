// Bytes of any kind survive as text.

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { bytesOfText, textOfBytes } from "../../../../src/shared/base/text/escaped-bytes.js";

const back = (bytes: Uint8Array): Buffer => Buffer.from(bytesOfText(textOfBytes(Buffer.from(bytes))));

test("any bytes come back, also with text before and behind them", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), fc.string({ unit: "grapheme" }), (bytes, around) => {
      assert.deepEqual(back(bytes), Buffer.from(bytes));
      const text = `${around}${textOfBytes(Buffer.from(bytes))}${around}`;
      const expected = Buffer.concat([Buffer.from(around), Buffer.from(bytes), Buffer.from(around)]);
      assert.deepEqual(Buffer.from(bytesOfText(text)), expected);
    }),
  );
});

test("UTF-8 is the text that it is, the replacement character included", () => {
  for (const text of ["", "abc", "héllo €𝄞", "\ufffd", "a\ufffdb"]) {
    assert.equal(textOfBytes(Buffer.from(text)), text);
    assert.deepEqual(Buffer.from(bytesOfText(text)), Buffer.from(text));
  }
});

const broken: [what: string, bytes: number[]][] = [
  ["a byte that begins nothing", [0x80]],
  ["an overlong form", [0xc0, 0xaf]],
  ["a surrogate", [0xed, 0xa0, 0x80]],
  ["beyond the last character", [0xf4, 0x90, 0x80, 0x80]],
  ["a cut character before text", [0xe2, 0x82, 0x61]],
  ["a replacement character beside a broken byte", [0xef, 0xbf, 0xbd, 0xff]],
];
for (const [what, bytes] of broken) {
  test(`${what} comes back`, () => assert.deepEqual(back(Uint8Array.from(bytes)), Buffer.from(bytes)));
}
