// The end that a pod has when the kubelet starts; and which pods use the node.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { PodWorkerState } from "../../../../src/main/model/synced-pod.js";
import { earlierEnd } from "../../../../src/main/pods/sync/earlier-end.js";
import { podsUsingNode } from "../../../../src/main/pods/sync/pods-using-node.js";
import { steadyTime } from "../../../../src/shared/base/clock/moments.js";
import type { PodStatus } from "../../../../src/shared/kubernetes/api/pod-status.js";
import { pod } from "../../../support/pods.js";

const NOW = steadyTime(1_000_000);
const failure = { reason: "Evicted", message: "m", deadline: steadyTime(5) };
const finalStatus: PodStatus = { phase: "Failed" };
const failed = { cause: "failed", failure: { reason: "Evicted", message: "m" }, deadline: 5 };

for (const [what, record, phase, expected] of [
  ["a pod that nobody ended", {}, "Running", undefined],
  ["a pod without a record", undefined, undefined, undefined],
  ["failed, and not seen through", { failure }, "Running", { end: failed, terminated: false }],
  ["failed and seen through", { failure, finalStatus }, "Failed", { end: failed, terminated: true }],
  ["completed", { finalStatus }, undefined, { end: { cause: "completed", deadline: NOW }, terminated: true }],
  [
    "ended by another's word, in its own time",
    { failure, pod: pod({ terminationGracePeriodSeconds: 7 }) },
    "Succeeded",
    { end: { cause: "completed", deadline: NOW + 7000 }, terminated: true },
  ],
] as const) {
  test(what, () => assert.deepEqual(earlierEnd(record, phase, NOW), expected));
}

test("admitted pods use the node until nothing of them runs", () => {
  const states: PodWorkerState[] = ["admitting", "syncing", "ending", "finished", "terminating", "terminated"];
  const workers = states.map((state) => ({ state, desired: pod({}, state) }));
  const using = podsUsingNode([...workers, { state: "terminating", desired: undefined }]);
  assert.deepEqual(
    using.map(({ metadata }) => metadata.name),
    ["syncing", "ending", "terminating"],
  );
});
