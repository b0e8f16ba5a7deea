// Status calls of an inspection: a few at once, none after a failure.

import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "../../../src/shared/base/clock/clock.js";
import { CriNotFoundError } from "../../../src/shared/kubernetes/cri/errors.js";
import { ContainerState, ContainerStatus } from "../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import type { ObservedPod } from "../../../src/shared/kubernetes/cri/observed-pod.js";
import { podUid, containerIdOf } from "../../../src/shared/kubernetes/identifiers.js";
import { PodInspector, POD_UID_LABEL, type InspectorOptions } from "../../../src/workers/pleg/pod-inspector.js";
import { SteppedClock } from "../../support/stepped-clock.js";
import { settle } from "../../support/sync-kit.js";

const COUNT = 500;

function inspect(status: InspectorOptions["cri"]["containerStatus"]): Promise<ObservedPod> {
  return new Promise((resolve, reject) => {
    const unused = () => Promise.reject(new Error("not called"));
    const inspector = new PodInspector({
      cri: { listPodSandbox: unused, listContainers: unused, podSandboxStatus: unused, containerStatus: status },
      ...{ clock: systemClock, deadlineMs: 1000, concurrency: 1 },
      outcome: {
        observed: resolve,
        failed: (_uid, _generation, error) => reject(error instanceof Error ? error : new Error(String(error))),
      },
    });
    inspector.onRelisted();
    const hints = Array.from({ length: COUNT }, (_, at) => ({
      kind: "container" as const,
      id: containerIdOf(`c${at}`),
    }));
    inspector.request(podUid("u"), 1, hints);
  });
}

const answer = (id: string) => ({
  status: ContainerStatus.fromPartial({ id, labels: { [POD_UID_LABEL]: "u" } }),
  info: {},
});

test("a pod with many containers has eight calls under way at most, and all of its containers are observed", async () => {
  let [now, most] = [0, 0];
  const observed = await inspect(async ({ containerId }) => {
    most = Math.max(most, ++now);
    await new Promise(setImmediate);
    now--;
    return answer(containerId ?? "");
  });
  assert.equal(observed.containers.length, COUNT);
  assert.equal(most, 8);
});

test("after a failed call no further one begins", async () => {
  let calls = 0;
  const failing = inspect(async ({ containerId }) => {
    const call = ++calls;
    await new Promise(setImmediate);
    if (call === 3) throw new Error("no response");
    return answer(containerId ?? "");
  });
  await assert.rejects(failing, { message: "no response" });
  assert.ok(calls <= 16, `${calls} calls`);
});

test("when a running container is lost, the exited one before it is asked for again, and not shown as the newest", async () => {
  const seen: string[][] = [];
  const lost = new Set<string>();
  const unused = () => Promise.reject(new Error("not called"));
  let observed: (pod: ObservedPod) => void = () => undefined;
  const inspector = new PodInspector({
    cri: {
      listPodSandbox: unused,
      listContainers: unused,
      podSandboxStatus: unused,
      containerStatus: ({ containerId: id = "" }) => {
        if (lost.has(id))
          return Promise.reject(
            new CriNotFoundError({ verb: "ContainerStatus", endpoint: "", code: "NOT_FOUND", details: `no ${id}` }),
          );
        const state = id === "old" ? ContainerState.CONTAINER_EXITED : ContainerState.CONTAINER_RUNNING;
        const labels = { [POD_UID_LABEL]: "u" };
        return Promise.resolve({ status: ContainerStatus.fromPartial({ id, labels, state }), info: {} });
      },
    },
    ...{ clock: systemClock, deadlineMs: 1000, concurrency: 1 },
    outcome: { observed: (pod) => observed(pod), failed: (_uid, _generation, error) => assert.fail(String(error)) },
  });
  const look = async (hints: Parameters<typeof inspector.request>[2]): Promise<void> => {
    const pod = await new Promise<ObservedPod>((resolve) => {
      observed = resolve;
      inspector.request(podUid("u"), 1, hints);
    });
    seen.push(pod.containers.map(({ id }) => id));
  };
  inspector.onRelisted();
  await look([
    { kind: "container", id: containerIdOf("new") },
    { kind: "container", id: containerIdOf("old") },
  ]);
  lost.add("new").add("old");
  await look([]);
  assert.deepEqual(seen, [["new", "old"], []]);
});

/** Counts the inspections of a pod with so many containers. */
async function inspected(containers: number) {
  const clock = new SteppedClock();
  const unused = () => Promise.reject(new Error("not called"));
  let count = 0;
  const inspector = new PodInspector({
    cri: {
      ...{ listPodSandbox: unused, listContainers: unused, podSandboxStatus: unused },
      containerStatus: ({ containerId }) => Promise.resolve(answer(containerId ?? "")),
    },
    ...{ clock, deadlineMs: 1000, concurrency: 1 },
    outcome: { observed: () => void count++, failed: () => undefined },
  });
  inspector.onRelisted();
  const hints = Array.from({ length: containers }, (_, at) => ({
    kind: "container" as const,
    id: containerIdOf(`c${at}`),
  }));
  inspector.request(podUid("u"), 1, hints);
  await settle();
  return { clock, inspector, count: () => count };
}

test("events of a pod with hundreds of containers cause one inspection in each gap of its size", async () => {
  const { clock, inspector, count } = await inspected(500);
  assert.equal(count(), 1);
  for (let at = 0; at < 100; at++) {
    inspector.onEvent(podUid("u"));
    clock.step(30);
    await settle();
  }
  assert.equal(count(), 3, "two in 3 s");
  inspector.request(podUid("u"), 2, []);
  await settle();
  assert.equal(count(), 4, "requests of main wait for no gap");
  inspector.onEvent(podUid("u"));
  inspector.stop();
  assert.equal(clock.pending, 0);
});

test("an event during an inspection of a large pod is followed by another inspection after the gap", async () => {
  const { clock, inspector, count } = await inspected(500);
  inspector.request(podUid("u"), 2, []);
  inspector.onEvent(podUid("u"));
  await settle();
  assert.equal(count(), 2);
  clock.step(1000);
  await settle();
  assert.equal(count(), 3);
  clock.step(10_000);
  await settle();
  assert.equal(count(), 3);
});

test("each event of a small pod is followed by an inspection at once", async () => {
  const { inspector, count } = await inspected(3);
  for (let at = 0; at < 5; at++) {
    inspector.onEvent(podUid("u"));
    await settle();
  }
  assert.equal(count(), 6);
});
