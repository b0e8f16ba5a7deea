// The status page's table of manifests that make no pod.

import assert from "node:assert/strict";
import { test } from "node:test";
import { manifestsView } from "../../src/page/views/manifests.js";
import type { ManifestFacts, ManifestProblem } from "../../src/shared/contracts/manifest-facts.js";

const problem = (kind: ManifestProblem["kind"]): ManifestProblem => ({
  ...{ kind, message: "spec.x: wrong", field: "spec.x", line: 3, column: 4, since: 0 },
  ...(kind === "refused" && { reason: "invalid value" }),
});
const manifest = (name: string, ...kinds: ManifestProblem["kind"][]): ManifestFacts => ({
  ...{ origin: `/m/${name}`, source: "file", pods: [], claims: [], problems: kinds.map(problem) },
});
const shown = (...items: ManifestFacts[]): string =>
  JSON.stringify(manifestsView({ configured: ["/m"], items, more: 0 }, 5000));

test("manifests without a pod have a row with state, place, reason and remedy", () => {
  const text = shown(manifest("bad.yaml", "refused"), manifest("copy.yaml", "shadowed"));
  for (const word of [
    "bad.yaml",
    "InvalidManifest",
    "/m/bad.yaml:3:4: spec.x: wrong",
    "correct the file",
    "ShadowedManifest",
  ]) {
    assert.ok(text.includes(word), `${word} in ${text}`);
  }
});

test("accepted manifests, warned ones too, and a missing status have no table", () => {
  assert.equal(shown(manifest("fine.yaml"), manifest("warned.yaml", "warning")), "[]");
  assert.deepEqual(manifestsView(undefined, 0), []);
});
