import assert from "node:assert/strict";
import { test } from "node:test";
import { replaceAscii } from "../../../../src/shared/base/text/linear.js";

const table = Array.from({ length: 128 }, (_, code) => (code === 60 ? Buffer.from("&lt;") : undefined));

test("each such character is replaced, characters of several bytes stay", () => {
  assert.equal(replaceAscii("<a<é😀<", table), "&lt;a&lt;é😀&lt;");
  assert.equal(replaceAscii("", table), "");
});
