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

test("a long text is quoted as its characters are, with and without those that JSON writes in another way", () => {
  const inner = (text: string): string => quote(text).slice(1, -1);
  const ascii = Array.from({ length: 128 }, (_, code) => String.fromCharCode(code));
  const asInJson = ascii.filter((character) => !/[\0-\x07\v\x0e-\x1f\x7f]/.test(character));
  for (const characters of [ascii, asInJson, ['"', "\\", "\n", "\u2028", "é", "\u202e", "😀"]]) {
    const pieces = Array.from({ length: 1000 }, (_, at) => characters[(at * 7) % characters.length] ?? "");
    equal(quote(pieces.join("")), `"${pieces.map(inner).join("")}"`);
  }
});
