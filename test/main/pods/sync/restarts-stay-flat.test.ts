// A container that restarts 10,000 times leaves no more in the kubelet than one that restarts a few times.
// @promise Failures: 10,000 restarts of a container, 10,000 removed pods, 10,000 pauses of a log follower leave nothing
//   behind.
// @with test/main/pods/status/termination-reader.test.ts, test/main/pods/sync/pod-records.test.ts,
//   test/main/pods/events/correlator.test.ts, test/shared/base/abort/scope.test.ts,
//   test/workers/server/logs/pods/log-watch.test.ts

import assert from "node:assert/strict";
import { test } from "node:test";
import { Stopping } from "../../../../src/main/containers/runtime/kill-container.js";
import { PodWorker } from "../../../../src/main/pods/sync/pod-worker.js";
import { steadyTime } from "../../../../src/shared/base/clock/moments.js";
import type { CriClient } from "../../../../src/shared/kubernetes/cri/client.js";
import { ContainerState, ContainerStatus } from "../../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { type ObservedPod, observedContainer } from "../../../../src/shared/kubernetes/cri/observed-pod.js";
import { podUid, containerIdOf } from "../../../../src/shared/kubernetes/identifiers.js";
import { entriesIn } from "../../../support/entries-in.js";
import { container, pod } from "../../../support/pods.js";
import { emptyObservation, settle, SyncWorld } from "../../../support/sync-kit.js";
import { app, never, podOf, runtimeOn } from "../../containers/runtime/runtime-kit.js";

const RESTARTS = 10_000;

const having = (...ids: string[]): ObservedPod => ({
  ...emptyObservation("uid-web", 1),
  containers: ids.map((id) => observedContainer(ContainerStatus.fromPartial({ id }))),
});

test("the data of removed containers is forgotten: Killing events and preStop hooks", async (t) => {
  const world = await runtimeOn(t);
  const nothing = new Uint8Array();
  const cri = { execSync: () => Promise.resolve({ exitCode: 0, stdout: nothing, stderr: nothing }) };
  const runtime = { ...world.runtime, cri: cri as unknown as CriClient };
  const memory = { has: () => false, add: () => undefined, onObserved: () => undefined };
  const stopping = new Stopping(runtime, memory);
  const preStop = { exec: { command: ["true"] } };
  const known = podOf(app({ lifecycle: { preStop } }));
  const stop = async (id: string): Promise<void> => {
    const containerId = containerIdOf(id);
    stopping.announce(known, "app", containerId, "Stopping container app");
    const target = { pod: known, container: app(), containerId, podIP: () => Promise.resolve(undefined) };
    if (!stopping.preStops.isOver(containerId)) await stopping.preStops.run(target, preStop, steadyTime(1e12), never);
  };
  for (let restart = 0; restart < RESTARTS; restart++) {
    await stop(`id-${restart}`);
    stopping.onObserved(having(`id-${restart}`, `id-${restart - 1}`));
  }
  assert.equal(entriesIn(stopping, ["runtime", "memory"]), 4, "two containers, an event and a hook each");
  const events = world.events.length;
  await stop(`id-${RESTARTS - 1}`);
  assert.equal(world.events.length, events, "of a container that is still there nothing is done twice");
});

function seenRunning(world: SyncWorld, uid: string, before: string | undefined): boolean {
  const newest = world.cache.get(podUid(uid)).containers[0];
  return newest?.state === ContainerState.CONTAINER_RUNNING && newest.id !== before;
}

test(
  "a pod's worker keeps no more after 10,000 restarts with other images than after 100",
  { timeout: 120_000 },
  async () => {
    const world = new SyncWorld();
    const web = pod({ containers: [container("a")], restartPolicy: "Always" });
    const { uid } = web.metadata;
    const worker = new PodWorker(uid, web, { ...world.workerDeps(uid), backoff: { baseMs: 1, maxMs: 1 } });
    worker.requestPass();
    await settle();
    const kept = (): number => entriesIn(worker, ["deps", "pod"]);
    let after100 = 0;
    for (let restart = 1; restart <= RESTARTS; restart++) {
      const before = world.model(web).observed.containers[0]?.id;
      world.exit(web, "a", 1);
      // Each definition has a back-off of its own, which is over after a quarter of an hour.
      worker.setPod(pod({ containers: [{ ...container("a"), image: `image:${restart}` }], restartPolicy: "Always" }));
      world.clock.step(20_000);
      // Until the next container runs and has been seen to run.
      for (let turn = 0; !seenRunning(world, uid, before); turn++) {
        if (turn > 1000) assert.fail(`restart ${restart} does not come: ${world.begun.slice(-3).join("; ")}`);
        world.clock.step(1);
        await new Promise((resolve) => setImmediate(resolve));
      }
      if (restart === 100) after100 = kept();
    }
    await settle();
    assert.ok(kept() < after100 + 100, `${kept()} entries, ${after100} after 100 restarts`);
    await worker.stop();
  },
);
