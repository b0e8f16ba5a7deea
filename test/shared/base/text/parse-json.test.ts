import assert from "node:assert/strict";
import { test } from "node:test";
import { nestsDeeper } from "../../../../src/shared/base/text/nesting.js";
import { parseJson } from "../../../../src/shared/base/text/parse-json.js";

const nested = (depth: number, filler = ""): string => `${"[".repeat(depth)}${filler}${"]".repeat(depth)}`;
const LONG = `"${'\\"[{'.repeat(20_000)}"`;

test("JSON that is nested deeper than 10,000 levels is refused", () => {
  assert.throws(() => parseJson(nested(40_000)), { name: "SyntaxError", message: /nested deeper than 10000 levels/ });
  assert.throws(() => parseJson(`${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`), /nested deeper/);
});

test("brackets in texts do not count, nor do many values side by side", () => {
  assert.equal(parseJson(LONG), '"[{'.repeat(20_000));
  assert.ok(Array.isArray(parseJson(nested(9_999, LONG))));
  assert.equal((parseJson(`[${"[],".repeat(40_000)}1]`) as unknown[]).length, 40_001);
});

test("text that is not JSON is a SyntaxError", () => {
  assert.throws(() => parseJson("{"), SyntaxError);
});

const CASES: readonly [text: string, limit: number, deeper: boolean][] = [
  ["", 0, false],
  ["1", 0, false],
  ["[]", 0, true],
  ["[]", 1, false],
  ['{"a":{"b":[1]}}', 3, false],
  ['{"a":{"b":[1]}}', 2, true],
  ["[[],[],[]]", 2, false],
  ['"[[[["', 0, false],
  ['["\\"[[[["]', 1, false],
  ['["\\\\",[]]', 1, true],
  ["[".repeat(100), 99, true],
];

for (const [text, limit, deeper] of CASES) {
  test(`${JSON.stringify(text.slice(0, 20))} nests ${deeper ? "deeper than" : "at most"} ${limit} levels`, () => {
    assert.equal(nestsDeeper(text, limit), deeper);
  });
}
