// Texts of others as a person reads them.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { escaped, escapedLines, oneLine, UNPRINTABLE } from "../../../../src/shared/base/text/printable.js";

const ATTACK = "a\u001b[2Jb\r\nREADY=1\tc\u0000\u0085\u202egpj.exe\u2028d é 漢 🙂";

describe("a text of others", () => {
  test("is one line without what steers a terminal", () => {
    assert.equal(oneLine(ATTACK), "a [2Jb READY=1 c gpj.exe d é 漢 🙂");
  });

  test("shows unprintable characters and line ends as escapes", () => {
    assert.equal(escaped(ATTACK), "a\\x1b[2Jb\\x0d\\x0aREADY=1\\x09c\\x00\\x85\\u202egpj.exe\\u2028d é 漢 🙂");
  });

  test("keeps its line ends and tabs where it may have lines", () => {
    assert.equal(escapedLines(ATTACK), "a\\x1b[2Jb\\x0d\nREADY=1\tc\\x00\\x85\\u202egpj.exe\\u2028d é 漢 🙂");
  });

  test("has nothing unprintable afterwards, whatever it was", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        assert.doesNotMatch(oneLine(text), UNPRINTABLE);
        assert.doesNotMatch(escaped(text), UNPRINTABLE);
        assert.doesNotMatch(escapedLines(text).replaceAll(/[\n\t]/g, ""), UNPRINTABLE);
      }),
    );
  });
});
