// Status of a pod during a container's postStart hook: the container runs, but is not ready yet.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { SyncedPod } from "../../../../src/main/model/synced-pod.js";
import type { PodWorkerDeps } from "../../../../src/main/pods/sync/pod-worker-port.js";
import { PodWorker } from "../../../../src/main/pods/sync/pod-worker.js";
import { steadyTime } from "../../../../src/shared/base/clock/moments.js";
import { ContainerState } from "../../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { container, pod } from "../../../support/pods.js";
import { hang, HINTS, settle, SyncWorld } from "../../../support/sync-kit.js";

/** Starts take effect at once and then wait for their hook. */
function build() {
  const world = new SyncWorld();
  const web = pod({ containers: [container("a"), container("b")] });
  const { uid } = web.metadata;
  const deps = world.workerDeps(uid);
  const synced: SyncedPod[] = [];
  const hooks: { end: () => void }[] = [];
  const stopped: string[] = [];
  const doer: PodWorkerDeps["doer"] = {
    onObserved: () => undefined,
    async execute(wanted, step, signal, onProgress) {
      world.apply(uid, wanted, step);
      if (step.kind !== "start-container" || step.container.name !== "a") return HINTS;
      onProgress?.(HINTS);
      await Promise.race([new Promise<void>((end) => hooks.push({ end })), hang(signal)]);
      return HINTS;
    },
    stop: () => Promise.resolve(void stopped.push(uid)),
    rest: () => undefined,
  };
  const reports = { ...deps.reports, onSynced: (now: SyncedPod) => void synced.push(now) };
  const worker = new PodWorker(uid, web, { ...deps, doer, reports });
  const running = ({ observed }: SyncedPod): string[] =>
    observed.containers
      .filter(({ state }) => state === ContainerState.CONTAINER_RUNNING)
      .map(({ metadata }) => metadata?.name ?? "");
  return { world, worker, synced, hooks, stopped, running };
}

test("a container is shown as running during its hook, under its name; the next waits for it", async () => {
  const { worker, synced, hooks, running } = build();
  worker.requestPass();
  await settle();
  const shown = synced.at(-1);
  assert.ok(shown);
  assert.deepEqual([running(shown), shown.inPostStart], [["a"], "a"]);
  hooks[0]?.end();
  await settle();
  const last = synced.at(-1);
  assert.ok(last);
  assert.deepEqual([running(last).sort(), last.inPostStart], [["a", "b"], undefined]);
  assert.equal(synced.filter(({ inPostStart }) => inPostStart !== undefined).length, 1);
});

test("progress reported after the step's end is not shown: it would hide newer states", async () => {
  const { world, worker, synced, hooks } = build();
  const { answer } = world;
  let late: (() => void) | undefined;
  world.answer = (request) => {
    const started = hooks.length === 0 && world.models.get(worker.uid)?.observed.containers.length === 1;
    if (!started) return answer(request);
    late = () => world.cache.onRecord(world.observation(request));
    return undefined;
  };
  worker.requestPass();
  await settle();
  assert.ok(late);
  world.answer = answer;
  hooks[0]?.end();
  await settle();
  late();
  await settle();
  assert.ok(synced.every(({ inPostStart }) => inPostStart === undefined));
});

test("a pod that is terminated gives its hook up", async () => {
  const { world, worker } = build();
  worker.requestPass();
  await settle();
  worker.terminate({ deadline: steadyTime(world.clock.now() + 30_000), reason: "removed" });
  await settle();
  assert.equal(worker.state, "terminated");
});

test("a stopping kubelet makes the doer end work that outlives a pass", async () => {
  const { worker, stopped } = build();
  worker.requestPass();
  await settle();
  await worker.stop();
  assert.deepEqual(stopped, [worker.uid]);
});
