// A pod whose cgroup is gone while it runs: killed, and started anew under the tree.

import assert from "node:assert/strict";
import { test } from "node:test";
import { PodWorker } from "../../../../src/main/pods/sync/pod-worker.js";
import type { PodSpec } from "../../../../src/shared/kubernetes/api/pod.js";
import { container, pod } from "../../../support/pods.js";
import { settle, SyncWorld } from "../../../support/sync-kit.js";

async function running(spec: Partial<PodSpec> = {}) {
  const world = new SyncWorld();
  const web = pod({ containers: [container("a"), container("b")], ...spec });
  const { uid } = web.metadata;
  const cgroup = { lost: false, looks: 0 };
  const deps = world.workerDeps(uid);
  const make = (): PodWorker =>
    new PodWorker(uid, web, {
      ...deps,
      isCgroupLost: () => {
        cgroup.looks++;
        return Promise.resolve(cgroup.lost);
      },
    });
  world.script = (step) => {
    if (step.kind === "create-sandbox") cgroup.lost = false;
    return undefined;
  };
  const worker = make();
  worker.requestPass();
  await settle();
  assert.deepEqual(world.model(web).running(), ["a", "b"]);
  return { world, web, worker, cgroup, make, begun: () => world.begunOf(uid) };
}

test("a pod that has just started is not looked at; later it is, at most every ten seconds", async () => {
  const { world, worker, cgroup } = await running();
  assert.equal(cgroup.looks, 0);
  world.clock.step(10_000);
  for (let n = 0; n < 3; n++) {
    worker.requestPass();
    await settle();
  }
  assert.equal(cgroup.looks, 1);
});

test("lost: all of it stops, then it runs in another sandbox", async () => {
  const { world, worker, web, cgroup, begun } = await running();
  cgroup.lost = true;
  world.clock.step(60_000);
  await settle();
  assert.deepEqual(begun().slice(3, 8), [
    "kill-container b",
    "kill-container a",
    "stop-sandbox",
    "create-sandbox",
    "start-container a",
  ]);
  assert.deepEqual(world.model(web).running(), ["a", "b"]);
  const before = begun().length;
  world.clock.step(60_000);
  await settle();
  assert.equal(begun().length, before, "at rest");
  await worker.stop();
});

test("a kubelet that adopts a pod looks at once", async () => {
  const { worker, web, world, cgroup, make, begun } = await running();
  await worker.stop();
  cgroup.lost = true;
  const before = begun().length;
  const next = make();
  next.requestPass();
  await settle();
  assert.equal(cgroup.looks, 1);
  assert.deepEqual(begun().slice(before, before + 3), ["kill-container b", "kill-container a", "stop-sandbox"]);
  assert.deepEqual(world.model(web).running(), ["a", "b"]);
  await next.stop();
});

test("a pod that may not run twice has terminated", async () => {
  const { world, cgroup, worker, begun } = await running({ restartPolicy: "Never" });
  cgroup.lost = true;
  world.clock.step(60_000);
  await settle();
  assert.equal(begun().filter((line) => line === "create-sandbox").length, 1);
  assert.equal(worker.state, "finished");
});
