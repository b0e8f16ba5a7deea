// Pods as the servers' threads show them while they are stopped, and after that.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { PodWorkerState, TerminationRequest } from "../../../../src/main/model/synced-pod.js";
import { ShownPods } from "../../../../src/main/pods/sync/shown-pods.js";
import { steadyTime, wallTime } from "../../../../src/shared/base/clock/moments.js";
import type { Pod } from "../../../../src/shared/kubernetes/api/pod.js";
import {
  isTerminating,
  terminationMark,
  withTerminationMark,
} from "../../../../src/shared/kubernetes/api/termination-mark.js";
import { podUid } from "../../../../src/shared/kubernetes/identifiers.js";
import { pod } from "../../../support/pods.js";

const clock = { now: () => wallTime(Date.parse("2026-01-02T03:04:00Z")), steady: () => steadyTime(1_000) };

function shownPods(state: PodWorkerState, stopping: TerminationRequest | undefined, held: readonly Pod[] = []) {
  const worker: { state: PodWorkerState; stopping: TerminationRequest | undefined } = { state, stopping };
  const pods = new ShownPods({
    worker: () => worker,
    heldPod: (uid) => held.find(({ metadata }) => metadata.uid === uid),
    clock,
  });
  return { worker, pods };
}

test("a pod that no source wants is shown as deleted at the end of its grace period", () => {
  const { pods, worker } = shownPods("terminating", { deadline: steadyTime(31_000), reason: "removed" });
  const web = pod();
  const shown = pods.shown(web);
  assert.equal(shown.metadata.deletionTimestamp, "2026-01-02T03:04:30Z");
  assert.equal(web.metadata.deletionTimestamp, undefined, "the pod itself is as it was");
  assert.equal(pods.shown({ ...web }).metadata, shown.metadata, "an equal pod is not sent again");
  worker.stopping = { deadline: steadyTime(2_000), reason: "removed" };
  assert.equal(pods.shown(web).metadata.deletionTimestamp, "2026-01-02T03:04:01Z");
});

test("a pod that its source wants and the kubelet stops is marked, not deleted", () => {
  const { pods } = shownPods("ending", { deadline: steadyTime(31_000), reason: "Evicted" });
  const shown = pods.shown(pod());
  assert.deepEqual([shown.metadata.deletionTimestamp, terminationMark(shown)], [undefined, "stopping"]);
  assert.ok(isTerminating(shown));
});

test("a pod that is not stopped, or is deleted in the API, is shown as it is", () => {
  const web = pod();
  assert.equal(shownPods("syncing", undefined).pods.shown(web), web);
  const deleted = { ...web, metadata: { ...web.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } };
  assert.equal(shownPods("terminating", { deadline: steadyTime(9), reason: "" }).pods.shown(deleted), deleted);
  assert.equal(isTerminating(web), false);
});

test("a removed pod that is held stays in the list, others leave it", () => {
  const held = withTerminationMark(pod({}, "fin"), "ended");
  const { pods } = shownPods("syncing", undefined, [held]);
  const web = pod();
  assert.deepEqual(pods.delta({ set: [web], removed: [podUid("uid-fin"), podUid("uid-old")] }), {
    set: [web, held],
    removed: ["uid-old"],
  });
  assert.deepEqual(pods.delta({ set: [], removed: [podUid("uid-old")] }), { set: [], removed: ["uid-old"] });
});
