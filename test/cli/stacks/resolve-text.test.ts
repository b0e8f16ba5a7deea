// Stacks of the bundle within texts: what becomes of each form of a frame, and what stays.

import { deepEqual, equal, ok } from "node:assert/strict";
import { test } from "node:test";
import type { Place } from "../../../src/cli/stacks/positions.js";
import { resolveProfile } from "../../../src/cli/stacks/resolve-profile.js";
import { resolveText } from "../../../src/cli/stacks/resolve-text.js";

const AGENT = "/usr/lib/nodelet/dist/agent";
const PACK = "packs/main-kubelet-agent-0123abcd.js";

/** The line says which function it is: 1 has a name, 2 has none. */
function find(script: string, line: number, column: number): Place | undefined {
  if (script !== PACK && script !== "main/chunks/x-ABCDEFGH.js") return undefined;
  return { source: "src/main/a.ts", line: line * 10, column, name: line === 1 ? "PodWorker.syncPass" : "" };
}
const resolved = (text: string): string => resolveText(text, find).text;

for (const [title, before, after] of [
  ["a method", `at w.syncPass (${AGENT}/${PACK}:1:7)`, "at PodWorker.syncPass (src/main/a.ts:10:7)"],
  ["an async frame", `at async w.b (${AGENT}/${PACK}:1:7)`, "at async PodWorker.syncPass (src/main/a.ts:10:7)"],
  ["a constructor", `at new w (${AGENT}/${PACK}:1:7)`, "at new PodWorker.syncPass (src/main/a.ts:10:7)"],
  ["a method under another name", `at w.b [as c] (${AGENT}/${PACK}:1:7)`, "at PodWorker.syncPass (src/main/a.ts:10:7)"],
  ["a function without a name", `at ${AGENT}/${PACK}:2:7`, "at src/main/a.ts:20:7"],
  ["a frame that V8 gave no name", `at async ${AGENT}/${PACK}:1:7`, "at async PodWorker.syncPass (src/main/a.ts:10:7)"],
  ["V8's own name for it", `at w.<anonymous> (${AGENT}/${PACK}:2:7)`, "at w.<anonymous> (src/main/a.ts:20:7)"],
  [
    "a chunk with a URL",
    `at a (file://${AGENT}/main/chunks/x-ABCDEFGH.js:1:7)`,
    "at PodWorker.syncPass (src/main/a.ts:10:7)",
  ],
  [
    "a position in a sentence",
    `it stopped in (${AGENT}/${PACK}:2:7), then`,
    "it stopped in (src/main/a.ts:20:7), then",
  ],
  ["a path without a folder", `${PACK}:2:7`, "src/main/a.ts:20:7"],
] as const) {
  test(`a stack resolves ${title}`, () => {
    equal(resolved(before), after);
    equal(resolved(`Error: x\n    ${before}\n    at y`), `Error: x\n    ${after}\n    at y`);
    // As a JSON log has it.
    const json = JSON.stringify({ stack: `Error: x\n    ${before}\n    at y` });
    deepEqual(JSON.parse(resolved(json)), { stack: `Error: x\n    ${after}\n    at y` });
  });
}

test("positions of other builds, of Node and of other files stay, and are counted if they look like ours", () => {
  const text = [
    `at a (${AGENT}/packs/main-kubelet-agent-89abcdef.js:1:7)`,
    "at node:internal/process:1:2",
    "at a (/opt/other/packs.js:1:7)",
    `at a (${AGENT}/${PACK})`,
  ].join("\n");
  deepEqual(resolveText(text, find), { text, found: 0, unknown: 1 });
});

test("a hostile text of positions costs time in proportion to its length", () => {
  const frame = `${"at ".repeat(80)}${"/x".repeat(600)}/${PACK}:1:7`;
  const { found, text } = resolveText(`${frame}${frame}${"at a ".repeat(100_000)}${frame.repeat(200)}`, find);
  equal(found, 202);
  ok(text.endsWith("src/main/a.ts:10:7"), "a path is looked for in a bounded piece");
});

test("a profile of V8 has the functions of the sources", () => {
  const callFrame = { functionName: "w", scriptId: "1", url: `${AGENT}/${PACK}`, lineNumber: 0, columnNumber: 6 };
  const other = { ...callFrame, url: "node:fs" };
  const expected = { ...callFrame, functionName: "PodWorker.syncPass", url: "src/main/a.ts", lineNumber: 9 };
  const cpu = resolveProfile(JSON.stringify({ nodes: [{ callFrame: other }, { callFrame }], samples: [1] }), find);
  deepEqual(JSON.parse(cpu?.text ?? ""), { nodes: [{ callFrame: other }, { callFrame: expected }], samples: [1] });
  const heapOf = (own: object): object => ({
    head: { callFrame: other, children: [{ callFrame: own, children: [{ callFrame: own, children: [] }] }] },
  });
  const resolvedHeap = resolveProfile(JSON.stringify(heapOf(callFrame)), find);
  equal(resolvedHeap?.found, 2);
  deepEqual(JSON.parse(resolvedHeap.text), heapOf(expected));
  for (const text of ["Error: x", "{not JSON", '{"stack":"at x"}']) equal(resolveProfile(text, find), undefined);
});
