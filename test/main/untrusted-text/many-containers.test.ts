// A pod may have thousands of containers. The work on one of them does not grow with the number of the others: counted
// as reads of the properties of the pod's containers, not as time.
// @promise Hostile tenants and clients: The work to start, stop and plan one container does not grow with the number of
//   containers of its pod; at most 32 images are checked ahead.
// @with test/hostile

import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { Doer } from "../../../src/main/containers/runtime/doer.js";
import { definedContainer } from "../../../src/main/containers/runtime/hooks/hook-target.js";
import { resourceFieldValue } from "../../../src/main/model/downward.js";
import { resourcesOf } from "../../../src/main/model/pod-resources.js";
import { statusText, textsAhead } from "../../../src/main/model/status-text.js";
import { findShortages } from "../../../src/main/pods/admission/free-resources.js";
import { nodePortsHandler } from "../../../src/main/pods/admission/predicates/host-ports.js";
import { preStopsAhead } from "../../../src/main/pods/planner/pre-stops-ahead.js";
import { stepDecision } from "../../../src/main/pods/planner/step-decision.js";
import { stopOrder, stopsAtOnce } from "../../../src/main/pods/planner/stop-order.js";
import { computeAhead, computePodStatus, type StatusInput } from "../../../src/main/pods/status/compute-pod-status.js";
import { finalStatus } from "../../../src/main/pods/status/final-status.js";
import { Allocations } from "../../../src/main/resources/allocation/allocations.js";
import {
  linuxContainerResources,
  type ContainerResourceOptions,
} from "../../../src/main/resources/container-resources.js";
import { runsBefore } from "../../../src/main/resources/cpu-manager/requests.js";
import { steadyTime } from "../../../src/shared/base/clock/moments.js";
import { containerNamed } from "../../../src/shared/kubernetes/api/per-spec.js";
import type { PodStatus } from "../../../src/shared/kubernetes/api/pod-status.js";
import type { Container, Pod } from "../../../src/shared/kubernetes/api/pod.js";
import {
  ContainerState,
  type CreateContainerRequest,
  type RunPodSandboxRequest,
} from "../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import type { ObservedContainer } from "../../../src/shared/kubernetes/cri/observed-pod.js";
import { containerIdOf, podUid } from "../../../src/shared/kubernetes/identifiers.js";
import { keptLog, temporaryFolder } from "../../support/sources-kit.js";
import { SteppedClock } from "../../support/stepped-clock.js";
import { app, never, podOf, runtimeOn, startStep } from "../containers/runtime/runtime-kit.js";
import { context } from "../pods/admission/kit.js";
import { criContainer, observedPod, waiting } from "../pods/status/fixtures.js";

/** Counts the reads of properties of all the objects that it has made. */
class Counted {
  reads = 0;
  of<T extends object>(value: T): T {
    return new Proxy(value, {
      get: (target, key, receiver): unknown => {
        this.reads++;
        return Reflect.get(target, key, receiver);
      },
    });
  }
}

const REQUESTS = { requests: { cpu: "1m", memory: "1Mi" } };

function countedPod(counted: Counted, count: number, fields: Partial<Container> = {}): Pod {
  const containers = Array.from({ length: count }, (_, index) =>
    counted.of(app({ name: `c${index}`, ports: [{ containerPort: 80 }], resources: REQUESTS, ...fields })),
  );
  const [first] = containers;
  assert.ok(first !== undefined);
  return podOf(first, { containers });
}

/** Reads for each of `count` items, in the second run of `work`: the first one may index the pod. */
async function readsEach(count: number, work: (counted: Counted, count: number) => Promise<number>): Promise<number> {
  return (await work(new Counted(), count)) / count;
}

async function assertConstant(work: (counted: Counted, count: number) => Promise<number>): Promise<void> {
  const [few, many] = [await readsEach(100, work), await readsEach(400, work)];
  assert.ok(many > 0, "the count sees nothing");
  assert.ok(many <= few * 1.5, `${few} reads for each of 100, and ${many} for each of 400`);
}

async function startAll(t: TestContext, counted: Counted, count: number): Promise<number> {
  const world = await runtimeOn(t);
  const actuated = new Allocations(world.root, world.clock, world.kept.log);
  const doer = new Doer(
    world.runtime,
    podUid("uid-web"),
    () => undefined,
    undefined,
    () => actuated.actuated(podUid("uid-web")),
  );
  const pod = countedPod(counted, count);
  const [hint] = await doer.execute(pod, { kind: "create-sandbox", attempt: 0, reason: "none" }, never);
  assert.ok(hint !== undefined);
  const before = counted.reads;
  for (const container of pod.spec.containers) {
    await doer.execute(pod, startStep(container, hint.id), never);
    actuated.actuate(podUid("uid-web"), [container.name], resourcesOf(pod), false);
  }
  return counted.reads - before;
}

test("the start of a container reads as much in a pod of 400 containers as in one of 100", async (t) => {
  await assertConstant((counted, count) => startAll(t, counted, count));
});

test("a sandbox with many containers checks 32 images ahead, and more as they are claimed", async (t) => {
  const world = await runtimeOn(t);
  const doer = new Doer(world.runtime, podUid("uid-web"), () => undefined);
  const pod = countedPod(new Counted(), 100);
  const [hint] = await doer.execute(pod, { kind: "create-sandbox", attempt: 2, reason: "none" }, never);
  assert.ok(hint !== undefined && world.calls("ImageStatus").length <= 32);
  for (const container of pod.spec.containers) await doer.execute(pod, startStep(container, hint.id), never);
  assert.equal(world.calls("ImageStatus").length, 100, "one check for each container");
});

test("the resources of a container are computed without reading the others again", async () => {
  for (const fields of [{}, { restartPolicy: "Always" as const }]) {
    await assertConstant((counted, count) => {
      const pod = countedPod(counted, count, fields);
      const sidecars: Pod = { ...pod, spec: { ...pod.spec, initContainers: pod.spec.containers } };
      const options: ContainerResourceOptions = {
        ...{ nodeMemoryBytes: 1n << 33n, cgroupVersion: 2, cpuCFSQuota: true, swapController: true },
        ...{ hugePageSizes: [], singleProcessOOMKill: false },
        memoryQos: { reserve: true, throttlingFactor: 0.9, allocatableBytes: 1n << 33n, pageSize: 4096n },
      };
      for (const container of pod.spec.containers) linuxContainerResources(sidecars, container, options);
      return Promise.resolve(counted.reads);
    });
  }
});

test("plans of stops and the lines of steps read each status a constant number of times", async () => {
  await assertConstant((counted, count) => {
    const statuses = Array.from({ length: count }, (_, at) => counted.of<ObservedContainer>(criContainer(`c${at}`)));
    const pod = countedPod(new Counted(), count, { lifecycle: { preStop: { sleep: { seconds: 1 } } } });
    const sidecars = pod.spec.containers.map((container) => ({ ...container, restartPolicy: "Always" as const }));
    const both: Pod = { ...pod, spec: { ...pod.spec, initContainers: sidecars } };
    const observed = observedPod(statuses);
    const stopping = stopOrder(both, statuses, true);
    stopOrder(both, statuses);
    preStopsAhead(both, statuses, stopsAtOnce(stopping), { deadline: steadyTime(1), reason: "r" });
    for (const { id, metadata } of statuses) {
      const common = {
        containerId: id,
        name: metadata?.name ?? "",
        graceSeconds: 1,
        deadline: steadyTime(1),
        reason: "r",
      };
      stepDecision({ kind: "kill-container", ...common }, observed);
      stepDecision(startStep(app({ name: common.name }), "s"), observed);
    }
    return Promise.resolve(counted.reads);
  });
});

test("a container is found by its name without a search", async () => {
  await assertConstant((counted, count) => {
    const { spec } = countedPod(counted, count);
    for (let at = 0; at < count; at++) assert.equal(containerNamed(spec, `c${at}`)?.place, "app");
    return Promise.resolve(counted.reads);
  });
});

test("a start changes one entry of the actuated resources: the others are not copied", async (t) => {
  const allocations = new Allocations(await temporaryFolder(t), new SteppedClock(), keptLog().log);
  const pod = countedPod(new Counted(), 100);
  allocations.actuate(podUid("u"), ["c0"], resourcesOf(pod), false);
  const first = allocations.actuated(podUid("u"));
  allocations.actuate(podUid("u"), ["c1"], resourcesOf(pod), false);
  assert.equal(allocations.actuated(podUid("u")), first);
  assert.deepEqual(Object.keys(first?.containers ?? {}), ["c0", "c1"]);
});

test("CreateContainer of a pod with many ports repeats none of them; RunPodSandbox has all", async (t) => {
  const sent = async (count: number): Promise<number[]> => {
    const world = await runtimeOn(t);
    const doer = new Doer(world.runtime, podUid("uid-web"), () => undefined);
    const pod = countedPod(new Counted(), count);
    const [hint] = await doer.execute(pod, { kind: "create-sandbox", attempt: 0, reason: "none" }, never);
    assert.ok(hint !== undefined);
    await doer.execute(pod, startStep(pod.spec.containers[0] ?? app(), hint.id), never);
    const [sandbox] = world.calls("RunPodSandbox") as RunPodSandboxRequest[];
    const [container] = world.calls("CreateContainer") as CreateContainerRequest[];
    return [sandbox?.config?.portMappings.length ?? -1, container?.sandboxConfig?.portMappings.length ?? -1];
  };
  assert.deepEqual(await sent(64), [64, 64]);
  assert.deepEqual(await sent(65), [65, 0]);
});

test("hooks and variables that name a container find it without a search", async () => {
  await assertConstant((counted, count) => {
    const pod = countedPod(counted, count);
    for (let at = 0; at < count; at++) {
      definedContainer(pod, `c${at}`);
      runsBefore(pod, `c${at}`);
      resourceFieldValue({ pod }, { containerName: `c${at}`, resource: "requests.cpu" });
    }
    return Promise.resolve(counted.reads);
  });
});

test("the admission of a pod reads no containers of the pods that it is placed beside", () => {
  const counted = new Counted();
  const others = [countedPod(counted, 100), countedPod(counted, 100)];
  const admit = (): void => {
    const pod = countedPod(new Counted(), 1, { ports: [{ containerPort: 1, hostPort: 1 }] });
    const given = context(pod, {}, others);
    assert.equal(nodePortsHandler(given), undefined);
    assert.deepEqual(findShortages(given), []);
  };
  admit();
  const { reads } = counted;
  assert.ok(reads > 0, "the count sees nothing");
  admit();
  assert.equal(counted.reads, reads);
});

test("the last status of a pod reads each container's status a constant number of times", async () => {
  await assertConstant((counted, count) => {
    const pod = countedPod(new Counted(), count);
    const statuses = pod.spec.containers.map(({ name }) => counted.of(waiting(name)));
    const withInit: Pod = { ...pod, spec: { ...pod.spec, initContainers: [app({ name: "init" })] } };
    const status: PodStatus = { phase: "Pending", initContainerStatuses: [waiting("init")] };
    finalStatus(withInit, { ...status, containerStatuses: statuses }, false, 0);
    return Promise.resolve(counted.reads);
  });
});

const settled = { podLevelResources: false, stopSignals: false, imageVolumeDigests: false, changesOnRestart: false };

/** A pod whose containers run, and how many of their statuses were computed: each computation reads the ports once. */
function runningPod(count: number): { pod: Pod; input: StatusInput; computed: () => number } {
  let computed = 0;
  const seen = (container: Container): Container =>
    new Proxy(container, {
      get: (target, key, receiver): unknown => {
        if (key === "volumeMounts") computed++;
        return Reflect.get(target, key, receiver);
      },
    });
  const pod = podOf(app({ name: "c0" }), {
    containers: Array.from({ length: count }, (_, index) => seen(app({ name: `c${index}` }))),
  });
  const observed = observedPod(pod.spec.containers.map(({ name }) => criContainer(name)));
  computed = 0;
  const input = { pod, observed, nodeIPs: ["192.0.2.1"], runtimeName: "fake", now: 0, ...settled };
  return { pod, input, computed: () => computed };
}

test("the statuses of a pod with ten thousand containers take turns, and the status finds them", () => {
  const { input, computed } = runningPod(10_000);
  const steps = computeAhead(input);
  for (let before = 0; steps.next().done !== true; before = computed()) {
    assert.ok(computed() - before <= 250, `${computed() - before} statuses in one turn`);
  }
  assert.equal(computed(), 10_000);
  const status = computePodStatus(input);
  assert.equal(computed(), 10_000, "no status is computed a second time");
  assert.equal(statusText(status), JSON.stringify(status));
});

test("a pass over a thousand containers computes the status of the one that changed", () => {
  const { input, computed } = runningPod(1000);
  const first = computePodStatus(input);
  const second = computePodStatus({ ...input, previous: first });
  const before = computed();
  const [changed, ...others] = input.observed?.containers ?? [];
  assert.ok(input.observed !== undefined && changed !== undefined);
  const exit = criContainer("c0", { state: ContainerState.CONTAINER_EXITED, exitCode: 7 });
  const observed = { ...input.observed, containers: [exit, ...others] };
  const third = computePodStatus({ ...input, observed, previous: second });
  assert.equal(computed() - before, 1);
  assert.equal(third.containerStatuses?.find(({ name }) => name === "c0")?.state.terminated?.exitCode, 7);
  assert.equal(third.containerStatuses[1], second.containerStatuses?.[1], "it is not compared again");
  assert.deepEqual(second, first);
});

test("each fact that a container's status shows reaches a status that was kept", () => {
  const { input, pod } = runningPod(100);
  const [container] = pod.spec.containers;
  assert.ok(container !== undefined);
  const id = containerIdOf("c0-id");
  const exit = criContainer("c0", { state: ContainerState.CONTAINER_EXITED, exitCode: 1 });
  const exited = { ...input, observed: observedPod([exit, ...(input.observed?.containers.slice(1) ?? [])]) };
  const changes: readonly (readonly [StatusInput, Partial<StatusInput>])[] = [
    [exited, { startErrors: new Map([["c0", { reason: "ErrImagePull", message: "m" }]]) }],
    [exited, { terminationMessages: new Map([[id, "out of cheese"]]) }],
    [input, { inPostStart: "c0" }],
    [input, { runtimeName: "other" }],
    [input, { actuated: { containers: { c0: { requests: { cpu: "7" } } } } }],
    [input, { restartingAll: { active: true, removed: new Set(["c0"]) }, observed: observedPod([]) }],
  ];
  for (const [before, change] of changes) {
    const previous = computePodStatus(before);
    const next = { ...before, previous, ...change };
    const unknown = { ...pod, spec: { ...pod.spec, containers: pod.spec.containers.map((one) => ({ ...one })) } };
    assert.deepEqual(computePodStatus(next), computePodStatus({ ...next, pod: unknown }));
    assert.notDeepEqual(computePodStatus(next).containerStatuses?.[0], previous.containerStatuses?.[0]);
  }
});

test("the texts of all containers of a pod that ends are made in steps before its final status", () => {
  let made = 0;
  const containerStatuses = Array.from({ length: 1000 }, (_, at) => ({
    ...{ name: `c${at}`, image: "i", imageID: "i", ready: false, restartCount: 0, lastState: {} },
    ...{ state: { running: {} }, toJSON: () => ++made },
  }));
  const computed: PodStatus = { phase: "Running", containerStatuses };
  const final = (): PodStatus => finalStatus(countedPod(new Counted(), 1000), computed, false, 0);
  assert.equal([...textsAhead(final())].length, 4);
  assert.equal(made, 1000);
  assert.match(statusText(final()), /"phase":"Failed"/);
  assert.equal(made, 1000, "no text is made again");
});
