// Code coverage of runs: lines of the bundle that ran, and what part of the agent's folders they are.

import assert from "node:assert/strict";
import { test } from "node:test";
import { CodeTable } from "./code-table.js";
import { reachedLines } from "./measure.js";

const BUNDLE = `// src/main/pods/sync/pod-sync.ts
function one() {
  if (a) {
    b();
  }
}
// node_modules/other/index.js
function other() {
  c();
}
// src/main/volumes/plugins.ts
function two() {
  d();
}
`;

function rangeOf(text: string, count: number): { startOffset: number; endOffset: number; count: number } {
  const startOffset = BUNDLE.indexOf(text);
  return { startOffset, endOffset: startOffset + text.length, count };
}

test("lines of functions and blocks that ran count, by folder, and once for all seeds", () => {
  const bundle = { ranges: [rangeOf(BUNDLE, 0)] };
  const one = [rangeOf("function one() {\n  if (a) {\n    b();\n  }\n}", 3), rangeOf("{\n    b();\n  }", 0)];
  const functions = [bundle, { ranges: one }, { ranges: [rangeOf("function two() {\n  d();\n}", 0)] }];
  const table = new CodeTable(BUNDLE);
  assert.equal(table.add(reachedLines(BUNDLE, functions)), 2);
  assert.equal(table.add(reachedLines(BUNDLE, functions)), 0);
  assert.deepEqual(table.lines(), [
    "code: 40 % (2 of 5) of the agent's lines",
    "  src/main/pods                       67 % (2 of 3)",
    "  src/main/volumes                    0 % (0 of 2)",
  ]);
  one[1] = rangeOf("{\n    b();\n  }", 1);
  assert.equal(table.add(reachedLines(BUNDLE, functions)), 1);
});
