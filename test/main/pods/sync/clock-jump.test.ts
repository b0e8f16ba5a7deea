// The wall clock jumps two hours forward or back. Actions that were due in some seconds still happen in some seconds.
// @promise Pods: A clock set two hours forward or back: grace periods, stops, back-offs and deadlines on disk keep
//   their length.
// @with test/main/pods/sync/pod-records.test.ts, test/main/containers/runtime/hooks/hooks.test.ts

import assert from "node:assert/strict";
import { test } from "node:test";
import { CrashBackoff } from "../../../../src/main/model/crash-backoff.js";
import { StartContainerError } from "../../../../src/main/model/step-errors.js";
import type { Step } from "../../../../src/main/model/step.js";
import { PodWorker } from "../../../../src/main/pods/sync/pod-worker.js";
import { wallTime, later, steadyTime } from "../../../../src/shared/base/clock/moments.js";
import type { PodSpec } from "../../../../src/shared/kubernetes/api/pod.js";
import { podUid } from "../../../../src/shared/kubernetes/identifiers.js";
import { container, pod } from "../../../support/pods.js";
import { hang, settle, SyncWorld } from "../../../support/sync-kit.js";

const HOURS_MS = 2 * 3_600_000;
const JUMPS = [HOURS_MS, -HOURS_MS];
const isStart = (step: Step): boolean => step.kind === "start-container";
const graces = (steps: readonly Step[]): number[] =>
  steps.flatMap((step) => (step.kind === "kill-container" ? [step.graceSeconds] : []));

async function started(spec: Partial<PodSpec> = {}) {
  const world = new SyncWorld();
  // Room to be set back in.
  world.clock.step(10 * HOURS_MS);
  const web = pod(spec);
  const worker = new PodWorker(podUid("uid-web"), web, world.workerDeps("uid-web"));
  worker.requestPass();
  await settle();
  const step = async (ms: number): Promise<void> => {
    world.clock.step(ms);
    await settle();
  };
  return { world, worker, web, step };
}

for (const jump of JUMPS) {
  const way = jump > 0 ? "forth" : "back";

  test(`set ${way}: running containers are not affected`, async () => {
    const { world, worker, web, step } = await started();
    const before = world.begun.length;
    world.clock.jump(jump);
    await step(180_000);
    assert.deepEqual([world.begun.length, worker.state], [before, "syncing"]);
    assert.deepEqual(world.model(web).running(), ["app"]);
  });

  test(`set ${way} during a termination: sidecars get the rest of the grace period`, async () => {
    const sidecar = container("proxy", { restartPolicy: "Always" });
    const { world, worker, web, step } = await started({ initContainers: [sidecar] });
    world.script = (what, signal) => {
      if (what.kind !== "kill-container" || what.name !== "app") return undefined;
      return world.clock.sleep(12_000, signal).then(() => {
        world.apply("uid-web", web, what);
        return [];
      });
    };
    worker.terminate({ deadline: later(world.clock.steady(), 30_000), reason: "removed" });
    await settle();
    world.clock.jump(jump);
    await step(12_000);
    assert.deepEqual(graces(world.steps), [30, 18]);
  });

  test(`set ${way} during a stop that hangs: the call is repeated 10 s after the grace period`, async () => {
    const { world, worker, step } = await started();
    world.script = (what, signal) => (what.kind === "kill-container" ? hang(signal) : undefined);
    worker.terminate({ deadline: later(world.clock.steady(), 30_000), reason: "removed" });
    await settle();
    world.clock.jump(jump);
    await step(39_999);
    assert.deepEqual(graces(world.steps), [30]);
    await step(1);
    assert.deepEqual(graces(world.steps), [30, 2]);
  });

  test(`set ${way} after a container did not start: it is tried again in its time`, async () => {
    const { world, worker, step } = await started({ containers: [] });
    world.script = (what) =>
      isStart(what) ? Promise.reject(new StartContainerError("CreateContainerError", "no")) : undefined;
    worker.setPod(pod());
    await settle();
    const tries = (): number => world.steps.filter(isStart).length;
    assert.equal(tries(), 1);
    world.clock.jump(jump);
    await step(999);
    assert.equal(tries(), 1);
    await step(1);
    assert.equal(tries(), 2);
  });

  test(`set ${way} while a crashed container waits: its wait is as long as it was`, async () => {
    const { world, worker, web, step } = await started();
    const starts = (): number => world.steps.filter(isStart).length;
    for (let crash = 0; crash < 2; crash++) {
      world.exit(web, "app", 1);
      worker.requestPass();
      await settle();
    }
    assert.equal(starts(), 2, "at once, then after 10 s");
    world.clock.jump(jump);
    await step(9900);
    assert.equal(starts(), 2);
    await step(200);
    assert.equal(starts(), 3);
  });
}

test("a container that finished in the future, before the clock was set back, waits its time once", () => {
  const backoff = new CrashBackoff({}, (finishedAt) => steadyTime(finishedAt));
  backoff.next("k", wallTime(0), steadyTime(0));
  assert.deepEqual(backoff.inBackoff("k", wallTime(HOURS_MS), steadyTime(5000)), { until: 15_000, delayMs: 10_000 });
  assert.deepEqual(backoff.inBackoff("k", wallTime(HOURS_MS), steadyTime(9000)), { until: 15_000, delayMs: 10_000 });
  assert.equal(backoff.inBackoff("k", wallTime(HOURS_MS), steadyTime(15_000)), undefined);
});
