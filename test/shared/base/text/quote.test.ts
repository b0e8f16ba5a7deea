import { equal } from "node:assert/strict";
import { test } from "node:test";
import { quote, quoteStart } from "../../../../src/shared/base/text/quote.js";

test("a text is quoted as Go's %q has it", () => {
  equal(quote('a "b"\n\u001b\u202e\ud800'), '"a \\"b\\"\\n\\x1b\\u202e\\ufffd"');
  equal(quote("é 漢 😀"), '"é 漢 😀"');
});

test("of a long text the start is quoted, with a mark where it was cut", () => {
  equal(quoteStart("abc", 3), '"abc"');
  equal(quoteStart("a\nbc", 3), '"a\\nb…"');
  equal(quoteStart("x".repeat(1000)), `"${"x".repeat(100)}…"`);
});
