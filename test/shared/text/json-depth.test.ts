// nestsDeeper: counts levels outside of strings, and stops at the first that is too deep.
import assert from "node:assert/strict";
import { test } from "node:test";
import { nestsDeeper } from "../../../src/shared/text/json-depth.js";

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
