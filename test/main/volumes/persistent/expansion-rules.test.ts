// Decision to expand a claim's volume on the node.

import assert from "node:assert/strict";
import { test } from "node:test";
import { failed, grown, growthOf, type ClaimStatus } from "../../../../src/main/volumes/persistent/expansion-rules.js";
import type { PersistentVolumeClaim } from "../../../../src/shared/kubernetes/api/objects.js";

const claimOf = (status: ClaimStatus, annotations: Record<string, string> = {}): PersistentVolumeClaim => ({
  metadata: { name: "data", namespace: "default", annotations },
  status,
});
const pvOf = (storage: string, mode = "ReadWriteOnce") => ({
  metadata: { name: "pv-1" },
  spec: { capacity: { storage }, accessModes: [mode] },
});
const SMALL = { capacity: { storage: "1Gi" } };
const LARGE = { capacity: { storage: "2Gi" } };
const during = (storage: string, allocated?: string): ClaimStatus => ({
  ...SMALL,
  allocatedResourceStatuses: { storage },
  ...(allocated === undefined ? {} : { allocatedResources: { storage: allocated } }),
});

const rows: [what: string, status: ClaimStatus, growth: object | undefined][] = [
  ["the claim shows the size", LARGE, undefined],
  ["nobody keeps track", SMALL, { size: "2Gi", tracked: false, shown: false }],
  ["it is the node's turn", during("NodeResizePending"), { size: "2Gi", tracked: true, shown: false }],
  ["the node had begun", during("NodeResizeInProgress"), { size: "2Gi", tracked: true, shown: false }],
  ["another size was granted", during("NodeResizePending", "1536Mi"), { size: "1536Mi", tracked: true, shown: false }],
  ["the controller is at it", during("ControllerResizeInProgress", "2Gi"), undefined],
  ["it can't be had", during("NodeResizeInfeasible", "2Gi"), undefined],
  ["tracked, and not begun", { ...SMALL, allocatedResources: { storage: "2Gi" } }, undefined],
];
for (const [what, status, growth] of rows) {
  test(`growth: ${what}`, () => assert.deepEqual(growthOf(claimOf(status), pvOf("2Gi"), "1Gi"), growth));
}

test("a volume of several nodes grows on each node, in any order", () => {
  const many = pvOf("2Gi", "ReadWriteMany");
  assert.deepEqual(growthOf(claimOf(LARGE), many, "1Gi"), { size: "2Gi", tracked: true, shown: true });
  assert.equal(growthOf(claimOf(LARGE), many, "2Gi"), undefined);
  assert.equal(growthOf(claimOf(LARGE), pvOf("2Gi"), "1Gi"), undefined);
  const annotated = { "volume.kubernetes.io/node-expansion-not-required": "true" };
  assert.equal(growthOf(claimOf(LARGE, annotated), many, "1Gi"), undefined);
});

test("after an expansion or its failure, the claim shows that and keeps all other fields", () => {
  const other = { type: "Modifying", status: "True" };
  const conditions = [other, { type: "Resizing", status: "True" }, { type: "NodeResizeError", status: "True" }];
  assert.deepEqual(grown({ ...SMALL, conditions }, "2Gi"), {
    capacity: { storage: "2Gi" },
    conditions: [other],
    allocatedResourceStatuses: { storage: null },
  });
  const how = { problem: "it won't", infeasible: true, now: "2026-11-22T00:00:00Z" };
  const condition = { type: "NodeResizeError", status: "True", lastTransitionTime: how.now };
  assert.deepEqual(failed({ ...SMALL, conditions: [other] }, how), {
    conditions: [other, { ...condition, message: "failed to expand pvc with it won't" }],
    allocatedResourceStatuses: { storage: "NodeResizeInfeasible" },
  });
  assert.deepEqual(failed({ ...SMALL, conditions }, { ...how, infeasible: false }), {}, "it is said already");
});
