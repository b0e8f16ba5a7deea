// A pod worker's record of its own steps, and the options of its restarts.

import assert from "node:assert/strict";
import { test } from "node:test";
import { noProbeResults, type ProbeResult } from "../../../../src/main/model/probe-results.js";
import { RestartMemory } from "../../../../src/main/pods/planner/restart-memory.js";
import type { PodWorkerDeps } from "../../../../src/main/pods/sync/pod-worker-port.js";
import { PodWorker } from "../../../../src/main/pods/sync/pod-worker.js";
import { steadyTime } from "../../../../src/shared/base/clock/moments.js";
import type { PodSpec } from "../../../../src/shared/kubernetes/api/pod.js";
import { containerIdOf } from "../../../../src/shared/kubernetes/identifiers.js";
import { container, pod } from "../../../support/pods.js";
import { emptyObservation, HINTS, settle, SyncWorld } from "../../../support/sync-kit.js";
import { criContainer } from "../status/fixtures.js";

async function started(spec: Partial<PodSpec>, deps: Partial<PodWorkerDeps> = {}) {
  const world = new SyncWorld();
  const web = pod(spec);
  const { uid } = web.metadata;
  const worker = new PodWorker(uid, web, { ...world.workerDeps(uid), ...deps });
  const requestPass = async (): Promise<void> => {
    worker.requestPass();
    await settle();
  };
  await requestPass();
  return { world, worker, web, requestPass, begun: () => world.begunOf(uid) };
}

test("ids and names are forgotten with the containers, names when they are there again", () => {
  const memory = new RestartMemory();
  const kill = { kind: "kill-container" as const, name: "a", graceSeconds: 2, deadline: steadyTime(0), reason: "" };
  memory.record({ ...kill, containerId: containerIdOf("kept"), restart: true });
  memory.record({ ...kill, containerId: containerIdOf("gone"), restart: true });
  memory.record({ ...kill, containerId: containerIdOf("ended") });
  memory.record({ kind: "remove-container", containerId: containerIdOf("x"), name: "a", restartAll: true });
  memory.record({ kind: "remove-container", containerId: containerIdOf("y"), name: "b", restartAll: true });
  memory.record({ kind: "remove-container", containerId: containerIdOf("z"), name: "c" });
  memory.onObserved({ ...emptyObservation("u", 1), containers: [criContainer("a", { id: "kept" })] });
  assert.deepEqual(
    ["kept", "gone", "ended"].map((id) => memory.restarts(containerIdOf(id))),
    [true, false, false],
  );
  assert.deepEqual([...memory.removed], ["b"]);
});

test("a container that a probe gave up is restarted even when it exits with 0 and only failures are", async () => {
  const verdicts = new Map<string, ProbeResult>();
  const probes = { ...noProbeResults, liveness: (id: string) => verdicts.get(id) };
  const app = container("app", { livenessProbe: { tcpSocket: { port: 1 } } });
  const { world, web, requestPass, begun } = await started(
    { restartPolicy: "OnFailure", containers: [app] },
    { probes },
  );
  world.script = (step) => {
    if (step.kind !== "kill-container") return undefined;
    world.model(web).exit("app", 0);
    return Promise.resolve(HINTS);
  };
  verdicts.set(world.model(web).observed.containers[0]?.id ?? "", "Failure");
  await requestPass();
  assert.deepEqual(begun().slice(2), ["kill-container app", "start-container app"]);
  world.exit(web, "app", 0);
  await requestPass();
  assert.deepEqual(
    begun().slice(4),
    ["stop-sandbox", "remove-container app", "release"],
    "an exit of its own ends the pod",
  );
});

test("the back-off's curve is the configured one", async () => {
  const { world, web, requestPass } = await started({}, { backoff: { baseMs: 1000, maxMs: 2000 } });
  const waits: number[] = [];
  for (let crash = 0; crash < 4; crash++) {
    world.exit(web, "app", 1);
    await requestPass();
    const { wakeAt = world.clock.now() } = world.synced.at(-1)?.plan ?? {};
    // Seconds: the model's clock moves a millisecond with each step.
    waits.push(Math.round((wakeAt - world.clock.now()) / 1000));
    world.clock.step(wakeAt - world.clock.now());
    await settle();
  }
  assert.deepEqual(waits, [0, 1, 2, 2]);
});

test("without its gate a container's own policy does not count", async () => {
  const spec = { restartPolicy: "Never" as const, containers: [container("app", { restartPolicy: "Always" })] };
  const exit = async (deps: Partial<PodWorkerDeps>): Promise<string[]> => {
    const { world, web, requestPass, begun } = await started(spec, deps);
    world.exit(web, "app", 1);
    await requestPass();
    return begun().slice(2);
  };
  assert.deepEqual(await exit({}), ["start-container app"]);
  const gates = { containerRestartRules: false, restartAllContainers: false };
  assert.deepEqual(await exit({ gates }), ["stop-sandbox", "release"]);
});

test("the back-off of the firing container delays RestartAllContainers that fires again and again", async () => {
  const rule = { action: "RestartAllContainers" as const, exitCodes: { operator: "In" as const, values: [88] } };
  const app = container("app", { restartPolicy: "Never", restartPolicyRules: [rule] });
  const { world, web, requestPass, begun } = await started({ containers: [app, container("other")] });
  const fire = async (): Promise<string[]> => {
    const before = begun().length;
    world.exit(web, "app", 88);
    await requestPass();
    return begun().slice(before);
  };
  const anew = ["remove-container app", "start-container app", "start-container other"];
  assert.deepEqual(await fire(), ["kill-container other", "remove-container other", ...anew]);
  assert.deepEqual(await fire(), ["kill-container other", "remove-container other"]);
  world.clock.step(10_500);
  await settle();
  assert.deepEqual(begun().slice(-3), anew);
});
