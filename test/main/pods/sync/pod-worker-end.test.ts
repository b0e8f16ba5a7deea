// Termination of a pod while its source still wants it: completed, failed by the kubelet, rejected by admission.
// @promise Pods: A deadline only moves earlier; a hung stop is abandoned and repeated.
// @with test/main/pods/sync/pod-worker-time.test.ts

import assert from "node:assert/strict";
import { test } from "node:test";
import type { PodEnd } from "../../../../src/main/model/synced-pod.js";
import { PodWorker } from "../../../../src/main/pods/sync/pod-worker.js";
import { steadyTime } from "../../../../src/shared/base/clock/moments.js";
import type { Pod, PodSpec } from "../../../../src/shared/kubernetes/api/pod.js";
import { podUid } from "../../../../src/shared/kubernetes/identifiers.js";
import { container, pod } from "../../../support/pods.js";
import { hang, settle, SyncWorld } from "../../../support/sync-kit.js";

function build(spec: Partial<PodSpec> = {}): { world: SyncWorld; worker: PodWorker; web: Pod } {
  const world = new SyncWorld();
  const web = pod(spec);
  const { uid } = web.metadata;
  return { world, web, worker: new PodWorker(uid, web, world.workerDeps(uid)) };
}

async function started(spec: Partial<PodSpec> = {}) {
  const built = build(spec);
  built.worker.requestPass();
  await settle();
  return built;
}

const evicted = { reason: "Evicted", message: "the node was low on memory" };
const failedBy = (deadline: number): PodEnd => ({ cause: "failed", failure: evicted, deadline: steadyTime(deadline) });

test("fail: containers, then the sandbox, then volumes and cgroup; the remaining status shows the reason", async () => {
  const { world, worker, web } = await started({ containers: [container("a"), container("b")] });
  const from = world.synced.length;
  worker.fail(failedBy(7000));
  assert.equal(worker.state, "ending");
  assert.deepEqual(world.finished, []);
  await settle();
  assert.equal(worker.state, "finished");
  assert.deepEqual(world.finished, ["uid-web"], "reported after all is released");
  const after = world.begunOf("uid-web").slice(3);
  assert.deepEqual(after.sort(), ["kill-container a", "kill-container b", "release", "stop-sandbox"]);
  const kill = world.steps.find((step) => step.kind === "kill-container");
  assert.ok(kill?.kind === "kill-container");
  assert.deepEqual([kill.graceSeconds, kill.deadline, kill.reason], [7, 7000, "Evicted"]);
  const published = world.synced.slice(from).map(({ state, mayRun, ended }) => [state, mayRun, ended]);
  assert.deepEqual(published, [
    ["terminating", true, false],
    ["terminating", false, false],
    ["finished", false, true],
  ]);
  assert.equal(world.prepared, world.synced.length, "each status took its turns before it was computed");
  assert.deepEqual(world.synced.at(-1)?.end?.failure, evicted);
  assert.equal(world.model(web).observed.containers.length, 2, "exit codes are kept");
  assert.deepEqual(world.endings, [{ uid: "uid-web", end: failedBy(7000) }]);
});

test("a failed pod never runs again after any request or new definition", async () => {
  const { world, worker } = await started();
  worker.fail(failedBy(1000));
  await settle();
  const begun = world.begun.length;
  world.clock.step(200_000);
  worker.pokeNow();
  await settle();
  worker.setPod(pod({ containers: [container("other")] }));
  await settle();
  assert.equal(world.begun.length, begun);
  assert.equal(worker.state, "finished");
});

test("no stop of a failed pod is sent before its failure is kept for another kubelet", async () => {
  const { world, worker } = await started();
  let kept: () => void = () => undefined;
  world.terminationKept = new Promise((resolve) => (kept = resolve));
  worker.fail(failedBy(5000));
  await settle();
  const stops = (): number => world.begun.filter((line) => line.includes("kill-container")).length;
  assert.equal(stops(), 0);
  kept();
  await settle();
  assert.equal(stops(), 1);
});

test("a second failure only shortens the grace; the first cause stays", async () => {
  const { world, worker } = await started();
  const graces: number[] = [];
  world.script = (step, signal) => {
    if (step.kind !== "kill-container") return undefined;
    graces.push(step.graceSeconds);
    return graces.length === 1 ? hang(signal) : undefined;
  };
  worker.fail(failedBy(30_000));
  await settle();
  worker.fail({ ...failedBy(60_000), failure: { reason: "Preempting", message: "" } });
  await settle();
  assert.deepEqual(graces, [30]);
  world.clock.step(5000);
  worker.fail({ ...failedBy(8000), failure: { reason: "Preempting", message: "" } });
  await settle();
  assert.deepEqual(graces, [30, 3]);
  assert.equal(worker.state, "finished");
  assert.equal(world.synced.at(-1)?.end?.failure?.reason, "Evicted");
});

test("a termination during a failure keeps the shorter deadline and takes everything down", async () => {
  const { world, worker, web } = await started();
  world.script = (step, signal) => (step.kind === "kill-container" ? hang(signal) : undefined);
  worker.fail(failedBy(4000));
  await settle();
  worker.terminate({ deadline: steadyTime(30_000), reason: "removed" });
  world.script = () => undefined;
  await settle();
  assert.equal(world.terminating[0]?.deadline, 4000);
  assert.equal(worker.state, "terminated");
  assert.equal(world.model(web).observed.sandboxes.length, 0);
  assert.equal(world.clock.pending, 0);
});

test("a failure of a pod that is being terminated only shortens that", async () => {
  const { world, worker } = await started();
  world.script = (step, signal) => (step.kind === "kill-container" ? hang(signal) : undefined);
  worker.terminate({ deadline: steadyTime(30_000), reason: "removed" });
  await settle();
  worker.fail(failedBy(9000));
  world.script = () => undefined;
  await settle();
  assert.deepEqual(
    world.terminating.map(({ deadline }) => deadline),
    [30_000, 9000],
  );
  assert.deepEqual(world.endings, []);
  assert.equal(worker.state, "terminated");
});

test("a pod that completed keeps its verdict when it is failed afterwards", async () => {
  const { world, worker, web } = await started({ restartPolicy: "Never" });
  world.exit(web, "app", 0);
  worker.requestPass();
  await settle();
  worker.fail(failedBy(1000));
  await worker.whenStopped();
  await settle();
  assert.equal(worker.state, "finished");
  assert.equal(world.synced.at(-1)?.end?.cause, "completed");
});

test("fail in mid-start aborts the start; a start that took effect all the same is stopped and released again", async () => {
  const { world, worker } = build();
  world.script = (step, signal) =>
    step.kind === "start-container"
      ? hang(signal).catch((error: unknown) => {
          world.apply(worker.uid, worker.desired, step);
          throw error;
        })
      : undefined;
  worker.requestPass();
  await settle();
  worker.fail(failedBy(3000));
  await settle();
  assert.deepEqual(world.begunOf("uid-web").slice(2), ["kill-container app", "stop-sandbox", "release"]);
  assert.deepEqual(world.passes.slice(0, 3), ["create", "sync", "sync"]);
  assert.ok(world.passes.includes("kill"));
  assert.deepEqual(world.model(pod()).running(), []);
  assert.deepEqual(world.kept.errors(), []);
});

test("a wait for the termination ends when nothing runs, even while the clean-up still fails", async () => {
  const { world, worker } = await started();
  let busy = true;
  world.script = (step) => (step.kind === "release" && busy ? Promise.reject(new Error("busy")) : undefined);
  let over = false;
  worker.fail(failedBy(1000));
  void worker.whenStopped().then(() => (over = true));
  await settle();
  assert.equal(over, true);
  assert.equal(worker.state, "ending");
  busy = false;
  world.clock.step(1000);
  await settle();
  assert.equal(worker.state, "finished");
  assert.equal(world.begun.filter((line) => line.endsWith("release")).length, 2);
});

test("a pod that completed is shown as ended only after its claims are released, and may end a wait before", async () => {
  const { world, worker, web } = await started({ restartPolicy: "Never" });
  world.claims.add("uid-web");
  let isAway = true;
  world.script = (step) =>
    step.kind === "release" && isAway ? Promise.reject(new Error("the driver is away")) : undefined;
  let stopped = false;
  world.exit(web, "app", 0);
  worker.requestPass();
  void worker.whenStopped().then(() => (stopped = true));
  await settle();
  assert.equal(stopped, true);
  const before = world.synced.filter(({ plan, state }) => state !== "syncing" || plan.finished);
  assert.ok(before.length >= 2, "the completion and its end");
  assert.deepEqual(new Set(before.map(({ mayRun, ended }) => `${mayRun} ${ended}`)), new Set(["true false"]));
  isAway = false;
  world.clock.step(1000);
  await settle();
  assert.equal(worker.state, "finished");
  assert.equal(world.synced.at(-1)?.ended, true);
});

test("a removed pod's claims are released while its containers still show how they ended", async () => {
  const { world, worker } = await started();
  world.claims.add("uid-web");
  worker.terminate({ deadline: steadyTime(5000), reason: "removed" });
  await settle();
  assert.equal(worker.state, "terminated");
  const steps = ["kill-container app", "stop-sandbox", "release", "clean-up", "remove-sandbox"];
  assert.deepEqual(world.begunOf("uid-web").slice(2), steps);
  const ends = world.synced.filter(({ ended }) => ended);
  assert.equal(ends.length, 1);
  assert.deepEqual(world.synced.at(-1), ends[0]);
});

test("when the kubelet stops first, waits for the termination end with an error", async () => {
  const { world, worker } = await started();
  world.script = (step, signal) => (step.kind === "kill-container" ? hang(signal) : undefined);
  worker.fail(failedBy(60_000));
  const waiting = assert.rejects(worker.whenStopped(), { name: "OperatorError" });
  await settle();
  await worker.stop();
  await waiting;
  await assert.rejects(worker.whenStopped(), { name: "OperatorError" });
  assert.equal(world.clock.pending, 0);
});

test("a termination that an earlier kubelet began continues with its deadline", async () => {
  const { world, worker } = await started();
  const successor = new PodWorker(podUid("uid-web"), worker.desired, world.workerDeps("uid-web"));
  await worker.stop();
  successor.resumeEnd(failedBy(12_000), false);
  successor.requestPass();
  await settle();
  const kill = world.steps.find((step) => step.kind === "kill-container");
  assert.equal(kill?.kind === "kill-container" && kill.graceSeconds, 12);
  assert.equal(successor.state, "finished");
  assert.equal(world.synced.at(-1)?.ended, true);
});

test("a completed termination is not reported again, nothing runs, resources are released once more", async () => {
  const world = new SyncWorld();
  const web = pod({ restartPolicy: "Always" });
  world.admit = () => Promise.reject(new Error("nobody asks for a pod that is over"));
  const worker = new PodWorker(podUid("uid-web"), web, world.workerDeps("uid-web"));
  worker.resumeEnd(failedBy(1), true);
  worker.requestPass();
  await settle();
  await worker.whenStopped();
  assert.deepEqual(world.begunOf("uid-web"), ["release"]);
  assert.deepEqual(world.synced, []);
  assert.equal(worker.state, "finished");
});

test("a pass of a pod that an earlier kubelet completed is repeated after it failed", async () => {
  const world = new SyncWorld();
  const worker = new PodWorker(podUid("uid-web"), pod({ restartPolicy: "Always" }), world.workerDeps("uid-web"));
  let failures = 1;
  world.script = () => (failures-- > 0 ? Promise.reject(new Error("the runtime is away")) : undefined);
  worker.resumeEnd(failedBy(1), true);
  worker.requestPass();
  await settle();
  assert.equal(worker.state, "ending");
  world.clock.step(1000);
  await settle();
  assert.deepEqual(world.begunOf("uid-web"), ["release", "release"]);
  assert.equal(worker.state, "finished");
});

test("a rejected pod: one event, nothing created, shown as Failed; with another definition it is admitted again", async () => {
  const { world, worker } = build();
  const asked: Pod[] = [];
  world.admit = (one) => {
    asked.push(one);
    const reason = "OutOfcpu";
    return Promise.resolve(asked.length === 1 ? { admit: false, reason, message: "no room" } : { admit: true });
  };
  worker.requestPass();
  await settle();
  assert.equal(worker.state, "finished");
  assert.deepEqual(world.begunOf("uid-web"), ["release"], "what an earlier life may have left, goes");
  assert.deepEqual(world.recorded, ["Warning OutOfcpu: no room"]);
  const last = world.synced.at(-1);
  assert.deepEqual([last?.ended, last?.end?.cause], [true, "rejected"]);
  assert.deepEqual(last?.end?.failure, { reason: "OutOfcpu", message: "no room" });
  worker.setPod(structuredClone(worker.desired ?? pod()));
  await settle();
  assert.equal(asked.length, 1, "the same definition has its result");
  const smaller = pod({ hostname: "smaller" });
  worker.setPod(smaller);
  await settle();
  assert.deepEqual(world.model(smaller).running(), ["app"]);
});

test("while admission waits nothing is made, and a pod that is removed meanwhile is not waited for", async () => {
  const { world, worker } = build();
  world.admit = (_pod, signal) => hang(signal);
  worker.requestPass();
  await settle();
  assert.equal(worker.state, "admitting");
  assert.deepEqual(world.begun, []);
  worker.terminate({ deadline: steadyTime(1000), reason: "removed" });
  await settle();
  assert.equal(worker.state, "terminated");
  assert.deepEqual(world.kept.errors(), []);
});

test("a failed admission is repeated", async () => {
  const { world, worker, web } = build();
  let calls = 0;
  world.admit = () => (++calls === 1 ? Promise.reject(new Error("no node")) : Promise.resolve({ admit: true }));
  worker.requestPass();
  await settle();
  assert.match(world.kept.errors()[0] ?? "", /next try in 1s: no node/);
  world.clock.step(1000);
  await settle();
  assert.deepEqual(world.model(web).running(), ["app"]);
});

test("a completed pod of the API server never runs again after any new definition", async () => {
  const world = new SyncWorld();
  const fromApi = (spec: Partial<PodSpec>): Pod => {
    const one = pod({ restartPolicy: "Never", ...spec });
    one.metadata.annotations = { "kubernetes.io/config.source": "api" };
    return one;
  };
  const first = fromApi({});
  const worker = new PodWorker(podUid("uid-web"), first, world.workerDeps("uid-web"));
  worker.requestPass();
  await settle();
  world.exit(first, "app", 0);
  worker.requestPass();
  await settle();
  assert.equal(worker.state, "finished");
  worker.setPod(fromApi({ activeDeadlineSeconds: 5 }));
  await settle();
  assert.equal(worker.state, "finished");
  assert.equal(world.steps.filter((step) => step.kind === "start-container").length, 1);
});
