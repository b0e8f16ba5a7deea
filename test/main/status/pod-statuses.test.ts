// The statuses of the node's pods under virtual time: batches, nothing told twice, nothing of a forgotten pod.
import assert from "node:assert/strict";
import { test } from "node:test";
import { PodStatuses, type PodDelta } from "../../../src/main/status/pod-statuses.js";
import { noProbeResults } from "../../../src/main/status/probe-results.js";
import type { Pod } from "../../../src/shared/api/pod.js";
import { ContainerState } from "../../../src/shared/cri/gen/runtime.v1.js";
import { keptLog } from "../../support/sources-kit.js";
import { SteppedClock } from "../../support/stepped-clock.js";
import { criContainer, makePod, observedPod } from "./fixtures.js";

const START = "2026-01-01T00:00:00Z";

function build() {
  const clock = new SteppedClock();
  const kept = keptLog();
  const deltas: PodDelta[] = [];
  const started: [string, number][] = [];
  const statuses = new PodStatuses({
    clock,
    log: kept.log,
    nodeIPs: ["192.0.2.10"],
    runtimeName: () => "fake",
    qosClass: () => "BestEffort",
    probes: noProbeResults,
    terminations: { messagesOf: () => new Map<string, string>(), forget: () => undefined },
    publish: (delta) => deltas.push(delta),
    onFinal: () => undefined,
    onStarted: (pod, ms) => started.push([pod.metadata.uid, ms]),
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
  return { clock, kept, deltas, started, statuses, update };
}

const uidsOf = (delta: PodDelta | undefined): string[] => (delta?.set ?? []).map((pod) => pod.metadata.uid).sort();
const other = makePod({}, { name: "other", uid: "u2" });

test("an accepted pod is shown as pending from its start time on", () => {
  const { clock, deltas, statuses } = build();
  statuses.accept(makePod(), START);
  assert.deepEqual(statuses.get("u1")?.status, { phase: "Pending", startTime: START, qosClass: "BestEffort" });
  clock.step(2);
  assert.deepEqual(deltas, [{ set: statuses.all(), removed: [] }]);
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
  const told = delta?.set.find((one) => one.metadata.uid === "u1");
  assert.equal(told?.status?.phase, "Running");
  assert.equal(told.status.startTime, START);
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

test("a change that is taken back before it was told is told as it is in the end", () => {
  const { clock, deltas, statuses, update } = build();
  const pod = makePod();
  statuses.accept(pod, START);
  update(pod);
  clock.step(2);
  update(pod, []);
  update(pod);
  clock.step(2);
  for (const delta of deltas) assert.ok(delta.set.length > 0);
  assert.deepEqual(deltas.at(-1)?.set[0], statuses.get("u1"));
});

test("a forgotten pod is told as removed, once, and nothing more is set of it", () => {
  const { clock, deltas, statuses, update } = build();
  const pod = makePod();
  statuses.accept(pod, START);
  statuses.accept(other, START);
  clock.step(2);
  update(pod);
  statuses.forget("u1");
  statuses.forget("u1");
  statuses.forget("never known");
  clock.step(2);
  assert.deepEqual(deltas.slice(1), [{ set: [], removed: ["u1"] }]);
  assert.equal(statuses.get("u1"), undefined);
  assert.deepEqual(
    statuses.all().map(({ metadata }) => metadata.uid),
    ["u2"],
  );
});

test("a pod that comes back in the batch in which it went is told as there", () => {
  const { clock, deltas, statuses } = build();
  statuses.accept(makePod(), START);
  clock.step(2);
  statuses.forget("u1");
  statuses.accept(makePod(), "2026-02-02T00:00:00Z");
  clock.step(2);
  const back = deltas[1];
  assert.deepEqual(back?.removed, []);
  assert.equal(back.set[0]?.status?.startTime, "2026-02-02T00:00:00Z", "nothing of its first life");
});

test("the first time that all containers run is told once, from the moment the pod was seen", () => {
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
  assert.deepEqual(started, [["u1", 500]]);
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
