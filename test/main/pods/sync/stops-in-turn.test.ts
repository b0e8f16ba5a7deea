// Sidecars stop one by one. Their pod may have hundreds: a pass and an inspection read the whole pod, so they are
// counted here.
// @promise Hostile tenants and clients: Hundreds of sidecars stop in one pass, one by one, without an inspection of
//   their pod for each.

import assert from "node:assert/strict";
import { test } from "node:test";
import { PodWorker } from "../../../../src/main/pods/sync/pod-worker.js";
import { steadyTime } from "../../../../src/shared/base/clock/moments.js";
import { podUid } from "../../../../src/shared/kubernetes/identifiers.js";
import { container, pod } from "../../../support/pods.js";
import { hang, HINTS, settle, SyncWorld, type Script } from "../../../support/sync-kit.js";

const GRACE_MS = 30_000;
const UID = podUid("uid-web");

/** A pod with running sidecars s0, s1, … and one container that has exited. */
async function withSidecars(count: number) {
  const world = new SyncWorld();
  const initContainers = Array.from({ length: count }, (_, at) => container(`s${at}`, { restartPolicy: "Always" }));
  const web = pod({ initContainers });
  const worker = new PodWorker(UID, web, world.workerDeps(UID));
  worker.requestPass();
  while (!world.model(web).running().includes("app")) await settle();
  await settle();
  const from = world.steps.length;
  const stops = (): [string, number][] =>
    world.steps
      .slice(from)
      .flatMap((step) => (step.kind === "kill-container" ? [[step.name, step.graceSeconds] as [string, number]] : []));
  return { world, web, worker, stops };
}

const names = (from: number, to: number): string[] => Array.from({ length: from - to + 1 }, (_, at) => `s${from - at}`);

test("hundreds of sidecars stop in reverse order in one pass and with few inspections", async () => {
  const { world, web, worker, stops } = await withSidecars(300);
  let [now, most] = [0, 0];
  world.script = (step) => {
    if (step.kind !== "kill-container") return undefined;
    most = step.name === "app" ? most : Math.max(most, ++now);
    return Promise.resolve().then(() => {
      if (step.name !== "app") now--;
      world.apply(UID, web, step);
      return HINTS;
    });
  };
  const [asked, synced] = [world.asked.length, world.synced.length];
  worker.terminate({ deadline: steadyTime(GRACE_MS), reason: "removed" });
  while (worker.state !== "terminated") await settle();
  assert.deepEqual(
    stops().map(([name]) => name),
    ["app", ...names(299, 0)],
  );
  assert.equal(most, 1, "stops of sidecars at once");
  assert.ok(world.synced.length - synced <= 4, `${world.synced.length - synced} passes`);
  assert.ok(world.asked.length - asked <= 10, `${world.asked.length - asked} inspections`);
});

test("a pass of slow stops ends within its share of time; all passes share one grace period", async () => {
  const { world, web, worker, stops } = await withSidecars(8);
  const slow: Script = (step, signal) => {
    if (step.kind !== "kill-container" || step.name === "app") return undefined;
    return world.clock.sleep(600, signal).then(() => {
      world.apply(UID, web, step);
      return HINTS;
    });
  };
  world.script = slow;
  const synced = world.synced.length;
  worker.terminate({ deadline: steadyTime(GRACE_MS), reason: "removed" });
  await settle();
  for (let at = 0; at < 8; at++) {
    world.clock.step(600);
    await settle();
  }
  assert.equal(worker.state, "terminated");
  assert.deepEqual(stops(), [
    ["app", 30],
    ...[30, 30, 29, 29, 28, 27, 27, 26].map((grace, at): [string, number] => [`s${7 - at}`, grace]),
  ]);
  assert.equal(world.synced.length - synced, 6, "one pass for app, four for two sidecars each, one for the sandbox");
});

test("a sidecar waits while the stop ahead of it fails, and until the end of the grace period at most", async () => {
  const { world, worker, stops } = await withSidecars(3);
  world.script = (step) =>
    step.kind === "kill-container" && step.name === "s2" ? Promise.reject(new Error("busy")) : undefined;
  worker.terminate({ deadline: steadyTime(GRACE_MS), reason: "removed" });
  await settle();
  assert.deepEqual(stops().at(-1), ["s2", 30]);
  world.script = (step, signal) => (step.kind === "kill-container" && step.name === "s2" ? hang(signal) : undefined);
  world.clock.step(GRACE_MS);
  await settle();
  assert.deepEqual(
    stops()
      .slice(2)
      .map(([name]) => name)
      .toSorted(),
    ["s0", "s1", "s2"],
  );
});
