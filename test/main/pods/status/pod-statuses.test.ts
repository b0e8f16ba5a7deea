// The statuses of the node's pods under virtual time: batches, no status emitted twice, none of a removed pod.
// @promise Pods: While a container of a pod may run, the pod is not shown as terminated.
// @with test/integration/pod-deadlines.test.ts

import assert from "node:assert/strict";
import { test } from "node:test";
import { type PodDelta } from "../../../../src/main/model/pod-delta.js";
import { PodEventStream } from "../../../../src/main/model/pod-events.js";
import { noProbeResults, type ProbeResult } from "../../../../src/main/model/probe-results.js";
import { defaultRestartGates } from "../../../../src/main/model/restart.js";
import { statusText } from "../../../../src/main/model/status-text.js";
import { patchWithDigits } from "../../../../src/main/pods/status/generation-digits.js";
import { statusPatch } from "../../../../src/main/pods/status/manager/status-patch.js";
import { PodStatuses, type PodStatusesDeps } from "../../../../src/main/pods/status/pod-statuses.js";
import type { StatusUpdate } from "../../../../src/main/pods/status/status-input.js";
import type { PodStatus } from "../../../../src/shared/kubernetes/api/pod-status.js";
import type { Pod } from "../../../../src/shared/kubernetes/api/pod.js";
import { digitsOf, textWithDigits } from "../../../../src/shared/kubernetes/api/wide-integers.js";
import { ContainerState, Signal } from "../../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import type { ObservedContainer } from "../../../../src/shared/kubernetes/cri/observed-pod.js";
import { podUid, type ContainerId } from "../../../../src/shared/kubernetes/identifiers.js";
import { keptLog, until } from "../../../support/sources-kit.js";
import { SteppedClock } from "../../../support/stepped-clock.js";
import { c, criContainer, makePod, observedPod } from "./fixtures.js";

const KNOWN: PodStatusesDeps["terminations"] = {
  messagesOf: () => new Map<ContainerId, string>(),
  forget: () => undefined,
};
const START = "2026-01-01T00:00:00Z";

function build(terminations: PodStatusesDeps["terminations"] = KNOWN, api: { status?: PodStatus } = {}) {
  const clock = new SteppedClock();
  const kept = keptLog();
  const deltas: PodDelta[] = [];
  const started: [string, number][] = [];
  const changes: string[] = [];
  const readiness: { of?: ProbeResult } = {};
  const volumes = { ready: true };
  const turns = { count: 0 };
  const finals: [string, PodStatus][] = [];
  const sent: PodStatus[] = [];
  const nodeIPs = ["192.0.2.10"];
  const events = new PodEventStream(kept.log);
  events.subscribe("cluster", {
    statusComputed: ({ status }) => sent.push(status),
    statusFinal: ({ pod, status }) => finals.push([pod.metadata.uid, status]),
    statusChanged: ({ pod, status }) => changes.push(`${pod.metadata.uid} ${status.phase}`),
    started: ({ pod }) => started.push([pod.metadata.uid, clock.now()]),
  });
  const statuses = new PodStatuses({
    clock,
    loop: {
      turn: () => {
        turns.count++;
        return Promise.resolve();
      },
    },
    log: kept.log,
    nodeIPs: () => nodeIPs,
    runtimeName: () => "fake",
    qosClass: () => "BestEffort",
    podLevelResources: false,
    gates: defaultRestartGates,
    resize: () => ({ conditions: [] }),
    stopSignals: true,
    imageVolumeDigests: false,
    changesOnRestart: false,
    probes: { ...noProbeResults, readiness: () => readiness.of },
    terminations,
    volumesSetUp: () => volumes.ready,
    apiStatus: () => api.status,
    publish: (delta) => deltas.push(delta),
    events,
  });
  const update = (pod: Pod, containers = [criContainer("a")], final = false): void =>
    statuses.update({
      pod,
      observed: { ...observedPod(containers), uid: pod.metadata.uid },
      waiting: new Map(),
      final,
      mayRun: !final,
      ended: false,
    });
  /** As a pod that is being ended tells of itself. */
  const end = (pod: Pod, containers: ObservedContainer[], marks: Partial<StatusUpdate>): void =>
    statuses.update({
      pod,
      observed: { ...observedPod(containers), uid: pod.metadata.uid },
      waiting: new Map(),
      final: true,
      mayRun: false,
      ended: false,
      ...marks,
    });
  return { clock, kept, deltas, started, finals, statuses, update, end, readiness, sent, nodeIPs, volumes, turns };
}

const uidsOf = (delta: PodDelta | undefined): string[] => (delta?.set ?? []).map((pod) => pod.metadata.uid).sort();
const other = makePod({}, { name: "other", uid: podUid("u2") });

test("an accepted pod is shown as pending from its start time on", () => {
  const { clock, deltas, statuses } = build();
  statuses.accept(makePod(), START);
  assert.deepEqual(statuses.get(podUid("u1"))?.status, { phase: "Pending", startTime: START, qosClass: "BestEffort" });
  clock.step(2);
  assert.deepEqual(deltas, [{ set: statuses.all(), removed: [] }]);
});

test("a pod with a sandbox becomes ready to start containers when its volumes are set up", () => {
  const { statuses, update, volumes } = build();
  const pod = makePod();
  const shown = (): string | undefined =>
    statuses.get(podUid("u1"))?.status?.conditions?.find(({ type }) => type === "PodReadyToStartContainers")?.status;
  statuses.accept(pod, START);
  volumes.ready = false;
  update(pod, []);
  assert.equal(shown(), "False");
  volumes.ready = true;
  statuses.onVolumesSetUp(podUid("u2"));
  assert.equal(shown(), "False", "the volumes of another pod");
  statuses.onVolumesSetUp(podUid("u1"));
  assert.equal(shown(), "True");
});

test("a container's status shows its stop signal while the gate ContainerStopSignals is on", () => {
  const { statuses, end } = build();
  const pod = makePod();
  statuses.accept(pod, START);
  end(pod, [criContainer("a", { stopSignal: Signal.SIGUSR1 })], { final: false, mayRun: true });
  assert.equal(statuses.get(podUid("u1"))?.status?.containerStatuses?.[0]?.stopSignal, "SIGUSR1");
});

test("changes within 2 ms leave together, each pod once and with its newest status", () => {
  const { clock, deltas, statuses, update } = build();
  const pod = makePod();
  statuses.accept(pod, START);
  statuses.accept(other, START);
  clock.step(1);
  update(pod);
  assert.equal(deltas.length, 0);
  clock.step(1);
  const [delta] = deltas.splice(0);
  assert.deepEqual(uidsOf(delta), ["u1", "u2"]);
  const published = delta?.set.find((one) => one.metadata.uid === "u1");
  assert.equal(published?.status?.phase, "Running");
  assert.equal(published.status.startTime, START);
});

test("a probe's new verdict is shown without another inspection of the pod; a removed pod is not shown", () => {
  const { clock, deltas, statuses, update, readiness } = build();
  const pod = makePod({ containers: [{ name: "a", readinessProbe: {} }] });
  statuses.accept(pod, START);
  statuses.refresh(podUid("u1"));
  update(pod);
  const ready = (): boolean | undefined => statuses.get(podUid("u1"))?.status?.containerStatuses?.[0]?.ready;
  assert.equal(ready(), false);
  readiness.of = "Success";
  assert.equal(ready(), false);
  statuses.refresh(podUid("u1"));
  assert.equal(ready(), true);
  statuses.forget(podUid("u1"));
  clock.step(10);
  deltas.length = 0;
  statuses.refresh(podUid("u1"));
  clock.step(10);
  assert.deepEqual([statuses.all(), deltas], [[], []]);
});

test("pods show the node's addresses as they are now; on its network they keep theirs, but for those that were none", () => {
  const { statuses, update, nodeIPs } = build();
  const pods = [makePod(), makePod({ hostNetwork: true }, { name: "host", uid: podUid("u2") })];
  for (const pod of pods) {
    statuses.accept(pod, START);
    update(pod);
  }
  const shown = (uid: string): unknown[] => {
    const { hostIP, hostIPs, podIPs } = statuses.get(podUid(uid))?.status ?? {};
    return [hostIP, hostIPs?.map(({ ip }) => ip).join(), podIPs?.map(({ ip }) => ip).join()];
  };
  const change = (now: string[], guessed: boolean): void => {
    const before = nodeIPs.splice(0, nodeIPs.length, ...now);
    statuses.hostIPsChanged({ before, guessed });
  };
  assert.deepEqual(shown("u2"), ["192.0.2.10", "192.0.2.10", "192.0.2.10"]);
  change(["192.0.2.20"], true);
  assert.deepEqual(shown("u1").slice(0, 2), ["192.0.2.20", "192.0.2.20"]);
  assert.deepEqual(shown("u2"), ["192.0.2.20", "192.0.2.20", "192.0.2.20"]);
  change(["192.0.2.30", "fd00::3"], false);
  assert.deepEqual(shown("u1").slice(0, 2), ["192.0.2.30", "192.0.2.30,fd00::3"]);
  assert.deepEqual(shown("u2"), ["192.0.2.30", "192.0.2.30,fd00::3", "192.0.2.20,fd00::3"]);
});

test("an equal status is published once; a change, or a new definition, is published", () => {
  const { clock, deltas, statuses, update } = build();
  const pod = makePod();
  statuses.accept(pod, START);
  update(pod);
  clock.step(10);
  update(pod);
  update(pod);
  clock.step(10);
  assert.equal(deltas.length, 1);
  update(pod, [criContainer("a", { state: ContainerState.CONTAINER_EXITED, exitCode: 3, reason: "Error" })]);
  clock.step(10);
  assert.equal(deltas.length, 2);
  const changed = makePod({}, { labels: { a: "b" } });
  statuses.accept(changed, START);
  clock.step(10);
  assert.equal(deltas.length, 3);
  assert.deepEqual(deltas[2]?.set[0]?.metadata.labels, { a: "b" });
  assert.notEqual(deltas[2].set[0].status?.phase, "Pending", "a new definition keeps the status");
});

test("a change that is reverted before its report is reported in its last state", () => {
  const { clock, deltas, statuses, update } = build();
  const pod = makePod();
  statuses.accept(pod, START);
  update(pod);
  clock.step(2);
  update(pod, []);
  update(pod);
  clock.step(2);
  for (const delta of deltas) assert.ok(delta.set.length > 0);
  assert.deepEqual(deltas.at(-1)?.set[0], statuses.get(podUid("u1")));
});

test("a forgotten pod is reported as removed once, and its status is not set again", () => {
  const { clock, deltas, statuses, update } = build();
  const pod = makePod();
  statuses.accept(pod, START);
  statuses.accept(other, START);
  clock.step(2);
  update(pod);
  statuses.forget(podUid("u1"));
  statuses.forget(podUid("u1"));
  statuses.forget(podUid("never known"));
  clock.step(2);
  assert.deepEqual(deltas.slice(1), [{ set: [], removed: ["u1"] }]);
  assert.equal(statuses.get(podUid("u1")), undefined);
  assert.deepEqual(
    statuses.all().map(({ metadata }) => metadata.uid),
    ["u2"],
  );
});

test("a pod that comes back in the batch of its removal is reported as present", () => {
  const { clock, deltas, statuses } = build();
  statuses.accept(makePod(), START);
  clock.step(2);
  statuses.forget(podUid("u1"));
  statuses.accept(makePod(), "2026-02-02T00:00:00Z");
  clock.step(2);
  const back = deltas[1];
  assert.deepEqual(back?.removed, []);
  assert.equal(back.set[0]?.status?.startTime, "2026-02-02T00:00:00Z", "nothing of its first life");
});

test("the first time that all containers run is reported once, from the moment the pod was seen", () => {
  const { clock, started, statuses, update } = build();
  const pod = makePod(
    { containers: [{ name: "a" }, { name: "b" }] },
    { annotations: { "kubernetes.io/config.seen": new Date(1000).toISOString() } },
  );
  statuses.accept(pod, START);
  clock.step(1500);
  update(pod, [criContainer("a")]);
  assert.deepEqual(started, []);
  update(pod, [criContainer("a"), criContainer("b")]);
  assert.deepEqual(started, [["u1", 1500]]);
  update(pod, [criContainer("a"), criContainer("b", { state: ContainerState.CONTAINER_EXITED, exitCode: 1 })]);
  update(pod, [criContainer("a"), criContainer("b")]);
  assert.equal(started.length, 1);
});

test("each change of phase is one line", () => {
  const { kept, statuses, update } = build();
  const pod = makePod({ restartPolicy: "Never" });
  statuses.accept(pod, START);
  update(pod);
  update(pod);
  update(pod, [criContainer("a", { state: ContainerState.CONTAINER_EXITED, exitCode: 0 })], true);
  assert.deepEqual(
    kept.lines.map((line) => line.msg).filter((line) => line.includes("→")),
    ["web_ns(u1): Pending → Running", "web_ns(u1): Running → Succeeded"],
  );
});

test("stop leaves no timer and publishes nothing any more", () => {
  const { clock, deltas, statuses } = build();
  statuses.accept(makePod(), START);
  statuses.stop();
  clock.step(100);
  assert.deepEqual(deltas, []);
  assert.equal(clock.pending, 0);
});

const evicted = { reason: "Evicted", message: "low on memory", disruption: "evicted by the test" };
const exited = (code: number) => criContainer("a", { state: ContainerState.CONTAINER_EXITED, exitCode: code });

test("a pod that is failed looks as before while it may run, then shows its verdict, once and for all", () => {
  const { clock, deltas, finals, statuses, update, end } = build();
  const pod = makePod();
  statuses.accept(pod, START);
  update(pod);
  end(pod, [criContainer("a")], { mayRun: true, failure: evicted });
  assert.equal(statuses.get(podUid("u1"))?.status?.phase, "Running");
  assert.equal(statuses.get(podUid("u1"))?.status?.reason, undefined);
  assert.deepEqual(finals, []);
  end(pod, [exited(137)], { ended: true, failure: evicted });
  const status = statuses.get(podUid("u1"))?.status;
  assert.deepEqual([status?.phase, status?.reason, status?.message], ["Failed", "Evicted", "low on memory"]);
  const conditions = new Map(status?.conditions?.map((one) => [one.type, one]));
  assert.equal(conditions.get("DisruptionTarget")?.message, "evicted by the test");
  assert.equal(conditions.get("Ready")?.reason, "PodFailed");
  assert.equal(conditions.get("PodReadyToStartContainers")?.status, "False");
  assert.deepEqual(finals, [["u1", status]]);
  clock.step(2);
  assert.equal(deltas.at(-1)?.set[0]?.status?.phase, "Failed");
});

test("a kubelet that continues a failure shows its containers' states until they have stopped", () => {
  const { statuses, end } = build();
  const pod = makePod();
  statuses.accept(pod, START);
  end(pod, [criContainer("a")], { mayRun: true, failure: evicted });
  assert.equal(statuses.get(podUid("u1"))?.status?.phase, "Running");
});

test("a container that vanished before the end is shown as lost", () => {
  const { statuses, update, end } = build();
  const pod = makePod();
  statuses.accept(pod, START);
  update(pod);
  end(pod, [], { ended: true, failure: evicted });
  const [container] = statuses.get(podUid("u1"))?.status?.containerStatuses ?? [];
  assert.equal(container?.state.terminated?.reason, "ContainerStatusUnknown");
  assert.equal(container.state.terminated.exitCode, 137);
});

test("a generation beyond 2^53 keeps its digits wherever the status has it", () => {
  const { update, sent } = build();
  const digits = "9223372036854775807";
  const pod: Pod = {
    ...makePod({}, { generation: Number.MAX_SAFE_INTEGER }),
    wideIntegers: [{ path: ["metadata", "generation"], digits }],
  };
  const generations = (text: string): string[] =>
    [...text.matchAll(/"observedGeneration":(\d+)/g)].map(([, found = ""]) => found);
  update(pod);
  const [status] = sent;
  assert.ok(status?.conditions !== undefined);
  assert.deepEqual(generations(statusText(status)), [digits, ...status.conditions.map(() => digits)]);
  const body = patchWithDigits({ status: statusPatch({}, status) ?? {} }, status);
  assert.equal(generations(textWithDigits(body, digitsOf(body))).length, status.conditions.length + 1);
  assert.deepEqual(new Set(generations(textWithDigits(body, digitsOf(body)))), new Set([digits]));
  update(makePod({}, { generation: 7 }));
  const [, next] = sent;
  assert.ok(next !== undefined);
  assert.deepEqual(new Set(generations(statusText(next))), new Set(["7"]));
});

test("a refused pod is shown as failed, with nothing else", () => {
  const { statuses } = build();
  const pod = makePod();
  statuses.accept(pod, START);
  statuses.reject(pod, { reason: "OutOfcpu", message: "no room" });
  const { startTime, ...status } = statuses.get(podUid("u1"))?.status ?? {};
  assert.ok(startTime);
  assert.deepEqual(status, {
    phase: "Failed",
    reason: "OutOfcpu",
    message: "Pod was rejected: no room",
    qosClass: "BestEffort",
  });
});

test("the end that an earlier kubelet began is shown unchanged; a pod that runs again forgets it", () => {
  const { statuses, update } = build();
  const pod = makePod({ restartPolicy: "Never" });
  const final: PodStatus = { phase: "Succeeded", startTime: START };
  statuses.restore(pod, final);
  assert.deepEqual(statuses.get(podUid("u1"))?.status, final);
  const again = makePod({ restartPolicy: "Always" });
  statuses.acceptAgain(again, START);
  update(again);
  assert.equal(statuses.get(podUid("u1"))?.status?.phase, "Running");
});

test("a removed pod's final status is published before its removal, each in its own batch", () => {
  const { clock, deltas, statuses, update, end } = build();
  const pod = makePod({ restartPolicy: "Never" });
  statuses.accept(pod, START);
  update(pod);
  clock.step(2);
  end(pod, [exited(0)], { ended: true });
  statuses.forget(podUid("u1"));
  assert.equal(statuses.get(podUid("u1")), undefined);
  clock.step(10);
  const [, last, gone] = deltas;
  assert.equal(last?.set[0]?.status?.phase, "Succeeded");
  assert.deepEqual([last.removed, gone], [[], { set: [], removed: ["u1"] }]);
  assert.equal(deltas.length, 3);
  assert.equal(clock.pending, 0);
});

test("a pod is not forgotten before its last words are read", () => {
  let known = true;
  const { clock, deltas, statuses, update, end } = build({
    ...KNOWN,
    messagesOf: () => (known ? new Map() : undefined),
  });
  const pod = makePod({ restartPolicy: "Never" });
  statuses.accept(pod, START);
  update(pod);
  clock.step(2);
  known = false;
  end(pod, [exited(3)], { ended: true });
  statuses.forget(podUid("u1"));
  clock.step(10);
  assert.equal(deltas.length, 1);
  known = true;
  statuses.onMessageRead(podUid("u1"));
  clock.step(10);
  assert.equal(deltas[1]?.set[0]?.status?.phase, "Failed");
  assert.deepEqual(deltas[2], { set: [], removed: ["u1"] });
});

test("a pod that comes back before its last words were read begins a life of its own", () => {
  let known = true;
  const { statuses, update, end } = build({ ...KNOWN, messagesOf: () => (known ? new Map() : undefined) });
  const pod = makePod({ restartPolicy: "Never" });
  statuses.accept(pod, START);
  update(pod);
  known = false;
  end(pod, [exited(3)], { ended: true });
  statuses.forget(podUid("u1"));
  statuses.accept(pod, "2026-02-02T00:00:00Z");
  known = true;
  statuses.onMessageRead(podUid("u1"));
  assert.deepEqual(statuses.get(podUid("u1"))?.status, {
    phase: "Pending",
    startTime: "2026-02-02T00:00:00Z",
    qosClass: "BestEffort",
  });
});

const T1 = "1969-12-31T00:00:00Z";

test("a pod that is in the API continues from its status there; its admission is no change", () => {
  const conditions = [
    { type: "Ready", status: "True", lastTransitionTime: T1 },
    { type: "PodScheduled", status: "True", lastTransitionTime: T1 },
  ] as const;
  const api: { status?: PodStatus } = { status: { phase: "Running", startTime: T1, conditions: [...conditions] } };
  const { statuses, update, sent } = build(KNOWN, api);
  statuses.accept(makePod(), START);
  assert.equal(sent.length, 0);
  assert.equal(statuses.get(podUid("u1"))?.status?.phase, "Running");
  update(makePod());
  const [first] = sent;
  assert.equal(first?.startTime, T1);
  const time = (type: string) => first.conditions?.find((one) => one.type === type)?.lastTransitionTime;
  assert.deepEqual([time("Ready"), time("PodScheduled")], [T1, T1]);
  assert.equal(time("Initialized"), "1970-01-01T00:00:00Z");
});

test("readiness gates are read from the API, and a new verdict there counts at once", () => {
  const api: { status?: PodStatus } = { status: { phase: "Pending" } };
  const { statuses, update, sent } = build(KNOWN, api);
  const pod = makePod({ containers: [{ name: "a" }], readinessGates: [{ conditionType: "example.com/gate" }] });
  statuses.accept(pod, START);
  update(pod);
  const ready = () => sent.at(-1)?.conditions?.find(({ type }) => type === "Ready");
  assert.equal(ready()?.reason, "ReadinessGatesNotReady");
  for (const value of ["True", "False", "True"] as const) {
    api.status = { phase: "Running", conditions: [{ type: "example.com/gate", status: value }] };
    statuses.refresh(podUid("u1"));
    assert.equal(ready()?.status, value);
  }
  assert.equal(sent.at(-1)?.conditions?.filter(({ type }) => type === "example.com/gate").length, 1);
});

test("a termination that an earlier kubelet completed is reported again, in case the server never received it", () => {
  const { statuses, sent } = build();
  statuses.restore(makePod(), { phase: "Succeeded" });
  assert.deepEqual(sent, [{ phase: "Succeeded" }]);
});

test("an exit before a restart is not reported where the API would accept no status of the next run", () => {
  for (const [restartPolicy, count] of [
    ["OnFailure", 1],
    ["Always", 2],
  ] as const) {
    const { statuses, update, end, sent } = build();
    const pod = makePod({ containers: [{ name: "a" }], restartPolicy });
    statuses.accept(pod, START);
    update(pod);
    const stopped = criContainer("a", { state: ContainerState.CONTAINER_EXITED, exitCode: 0, reason: "Completed" });
    end(pod, [stopped], { final: false, mayRun: true, restarting: new Set(["a"]) });
    assert.equal(sent.length, count, restartPolicy);
    assert.ok(statuses.get(podUid("u1"))?.status?.containerStatuses?.[0]?.state.terminated);
  }
});

test("an error in one pod's status keeps no other pod's from being shown, and reaches no caller of refresh", () => {
  let broken = false;
  const terminations: PodStatusesDeps["terminations"] = {
    messagesOf: (pod) => {
      if (broken && pod.metadata.uid === "u1") throw new Error("a defect");
      return new Map<ContainerId, string>();
    },
    forget: () => undefined,
  };
  const { statuses, update, nodeIPs, kept } = build(terminations);
  for (const pod of [makePod(), other]) {
    statuses.accept(pod, START);
    update(pod);
  }
  broken = true;
  const before = nodeIPs.splice(0, 1, "192.0.2.20");
  statuses.hostIPsChanged({ before, guessed: false });
  assert.equal(statuses.get(podUid("u2"))?.status?.hostIP, "192.0.2.20");
  statuses.refresh(podUid("u1"));
  assert.equal(kept.errors().length, 2);
});

test("the status of a large pod is computed again in turns when a probe result changes", async () => {
  const { statuses, update, readiness, turns } = build();
  const containers = Array.from({ length: 1000 }, (_, index) => c(`c${index}`, { readinessProbe: {} }));
  const pod = makePod({ containers });
  const ready = (): number =>
    statuses.get(podUid("u1"))?.status?.containerStatuses?.filter((one) => one.ready).length ?? -1;
  statuses.accept(pod, START);
  update(
    pod,
    containers.map(({ name }) => criContainer(name)),
  );
  readiness.of = "Success";
  statuses.refresh(podUid("u1"));
  assert.equal(ready(), 0, "not in the turn of the prober's message");
  await until("they are ready", () => ready() === 1000);
  assert.ok(turns.count >= 4, `${turns.count} turns`);
});

test("a large pod that is removed while its status is computed is not shown again", async () => {
  const { statuses, update, deltas, clock } = build();
  const containers = Array.from({ length: 1000 }, (_, index) => c(`c${index}`));
  const pod = makePod({ containers });
  statuses.accept(pod, START);
  update(
    pod,
    containers.map(({ name }) => criContainer(name)),
  );
  statuses.refresh(podUid("u1"));
  statuses.forget(podUid("u1"));
  await new Promise((resolve) => setImmediate(resolve));
  clock.step(2);
  assert.equal(statuses.get(podUid("u1")), undefined);
  assert.deepEqual(deltas.at(-1)?.removed, ["u1"]);
});
