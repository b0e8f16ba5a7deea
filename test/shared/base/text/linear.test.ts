import assert from "node:assert/strict";
import { test } from "node:test";
import { replaceEach } from "../../../../src/shared/base/text/linear.js";

test("each such character is replaced, characters of several bytes stay", () => {
  assert.equal(replaceEach("<a<é😀<", [["<", "&lt;"]]), "&lt;a&lt;é😀&lt;");
  assert.equal(replaceEach("", [["<", "&lt;"]]), "");
});

test("a replacement may have characters of an earlier row", () => {
  const rows = [
    ["\\", "\\\\"],
    ["\n", "\\n"],
  ] as const;
  assert.equal(replaceEach("a\\\n", rows), "a\\\\\\n");
});
