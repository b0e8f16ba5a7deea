// --runonce under virtual time.

import assert from "node:assert/strict";
import { test } from "node:test";
import { runOnce } from "../../../src/main/process/run-once.js";
import type { PodStatus } from "../../../src/shared/kubernetes/api/pod-status.js";
import type { Pod } from "../../../src/shared/kubernetes/api/pod.js";
import { pod } from "../../support/pods.js";
import { SteppedClock } from "../../support/stepped-clock.js";
import { settle } from "../../support/sync-kit.js";

type ContainerState = NonNullable<NonNullable<PodStatus["containerStatuses"]>[number]["state"]>;

function withPhase(name: string, phase: NonNullable<PodStatus["phase"]>, state: ContainerState): Pod {
  const container = { name: "app", ready: false, restartCount: 0, image: "busybox", imageID: "", state, lastState: {} };
  return { ...pod({}, name), status: { phase, containerStatuses: [container] } };
}
const running: ContainerState = { running: { startedAt: "2026-01-01T00:00:00Z" } };
const waiting: ContainerState = { waiting: { reason: "ErrImagePull", message: "no such image" } };

function build(pods: Pod[], settled = true) {
  const clock = new SteppedClock();
  const controller = new AbortController();
  const state = { settled, pods };
  const node = { settled: () => state.settled, pods: () => state.pods };
  return { clock, controller, state, done: runOnce(node, clock, controller.signal) };
}

async function pass(clock: SteppedClock, ms: number): Promise<void> {
  for (let at = 0; at < ms; at += 50) {
    clock.step(50);
    await settle();
  }
}

test("waits for the sources, then for every pod", async () => {
  const { clock, state, done } = build([], false);
  let over = false;
  void done.then(() => (over = true));
  await pass(clock, 500);
  assert.equal(over, false);
  state.settled = true;
  state.pods = [withPhase("a", "Pending", waiting)];
  await pass(clock, 500);
  assert.equal(over, false);
  state.pods = [withPhase("a", "Running", running), withPhase("b", "Succeeded", {})];
  await pass(clock, 100);
  assert.deepEqual(await done, { exitCode: 0, report: "default/a: Running\ndefault/b: Succeeded\n" });
});

test("a failed pod is reported and makes the exit code 1", async () => {
  const failed = withPhase("a", "Failed", {});
  const { done } = build([{ ...failed, status: { ...failed.status, reason: "Evicted" } as PodStatus }]);
  assert.deepEqual(await done, { exitCode: 1, report: "default/a: Failed (Evicted)\n" });
});

test("a pod that does not run in time is reported with the reason it waits for", async () => {
  const { clock, done } = build([withPhase("a", "Pending", waiting)]);
  await pass(clock, 180_100);
  assert.deepEqual(await done, {
    exitCode: 1,
    report: "default/a: does not run after 180 s: container app (ErrImagePull: no such image)\n",
  });
});

test("sources that never respond are reported, and a signal ends the wait", async () => {
  const { clock, controller, done } = build([withPhase("a", "Pending", waiting)], false);
  controller.abort();
  await pass(clock, 50);
  const { exitCode, report } = await done;
  assert.equal(exitCode, 1);
  assert.match(report, /default\/a: was interrupted.*\nthe pod sources or the container runtime have not responded\n/);
});

test("no pods are no failure", async () => {
  assert.deepEqual(await build([]).done, { exitCode: 0, report: "no pods\n" });
});
