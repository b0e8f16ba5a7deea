// The names of pods in refused manifests, whatever is left of the text.

import assert from "node:assert/strict";
import { test } from "node:test";
import { claimedIn, claimedInText } from "../../../src/workers/tasks/manifest/claimed-names.js";

test("a parsed manifest names its pods, and those of its list", () => {
  const rows: readonly [unknown, string[]][] = [
    [{ metadata: { name: "My_Pod" } }, ["default/My_Pod"]],
    [{ metadata: { name: "a", namespace: "b" } }, ["b/a"]],
    [{ items: [{ metadata: { name: "a" } }, null, { metadata: { name: "b", namespace: "c" } }] }, ["default/a", "c/b"]],
    [{ metadata: { name: 5 } }, []],
    [{ metadata: { name: "two words" } }, []],
    ["text", []],
    [null, []],
  ];
  for (const [value, names] of rows) assert.deepEqual(claimedIn(value), names, JSON.stringify(value));
});

test("a text that cannot be parsed names its first pod", () => {
  const rows: readonly [string, string[]][] = [
    ["apiVersion: v1\nmetadata:\n  name: web\nspec:\n  containers:\n  - name: app: x\n", ["default/web"]],
    [
      "metadata:\n  labels: {name: x}\n  namespace: 'kube-system' # here\n  name: \"web\"\nspec: [",
      ["kube-system/web"],
    ],
    ['{"kind":"Pod","metadata":{"name":"web","namespace":"ns"},', ["ns/web"]],
    ["kind: Pod\nspec:\n  - name: app\n", []],
    ["metadata:\n", []],
    ["\u0000\u0001", []],
    ["", []],
  ];
  for (const [text, names] of rows) {
    assert.deepEqual(claimedInText(text), names, text);
    assert.deepEqual(claimedInText(Buffer.from(text)), names, text);
  }
});

test("a huge hostile text costs no more than its first part", () => {
  const text = `metadata:${" {name".repeat(2_000_000)}`;
  assert.deepEqual(claimedInText(text), []);
});
