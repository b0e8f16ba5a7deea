// Status of containers before a restart, row by row.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { computePodStatus, type StatusInput } from "../../../../src/main/pods/status/compute-pod-status.js";
import type {
  ApiContainerStatus,
  ContainerState,
  PodStatus,
} from "../../../../src/shared/kubernetes/api/pod-status.js";
import type { Container, PodSpec } from "../../../../src/shared/kubernetes/api/pod.js";
import { ContainerState as S } from "../../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import type { ObservedContainer } from "../../../../src/shared/kubernetes/cri/observed-pod.js";
import { containerIdOf } from "../../../../src/shared/kubernetes/identifiers.js";
import { c, criContainer, exited, makePod, NOW, observedPod, running, sec } from "./fixtures.js";

function compute(rest: Partial<StatusInput>): PodStatus {
  return computePodStatus({
    pod: makePod(),
    observed: observedPod([]),
    nodeIPs: ["192.0.2.1"],
    runtimeName: "containerd",
    podLevelResources: false,
    stopSignals: false,
    imageVolumeDigests: false,
    changesOnRestart: false,
    now: NOW,
    ...rest,
  });
}

const dead = (name: string, exitCode: number): ObservedContainer =>
  criContainer(name, { state: S.CONTAINER_EXITED, exitCode, finishedAt: sec(1010) });
const BACK_OFF = { reason: "CrashLoopBackOff", message: "back-off 10s" };

/** "waiting REASON", "exited CODE", "running": the state; "/ exited CODE" the last one. */
function shown({ state, lastState }: ApiContainerStatus): string {
  const word = ({ waiting, terminated }: ContainerState): string => {
    if (terminated !== undefined) return `exited ${terminated.exitCode}`;
    return waiting === undefined ? "running" : `waiting ${waiting.reason ?? ""}`;
  };
  return lastState.terminated === undefined ? word(state) : `${word(state)} / ${word(lastState)}`;
}

type Group = "init" | "app" | "ephemeral";
interface Row {
  name: string;
  group?: Group;
  own?: Partial<Container>;
  policy?: PodSpec["restartPolicy"];
  seen?: ObservedContainer;
  restarting?: boolean;
  gatesOff?: boolean;
  expected: string;
}
const rows: Row[] = [
  { name: "exited 1, Always", seen: dead("a", 1), expected: "waiting CrashLoopBackOff / exited 1" },
  { name: "exited 0, Always", seen: dead("a", 0), expected: "waiting CrashLoopBackOff / exited 0" },
  { name: "exited 0, OnFailure", policy: "OnFailure", seen: dead("a", 0), expected: "exited 0" },
  {
    name: "exited 0, OnFailure, stopped to be restarted",
    policy: "OnFailure",
    seen: dead("a", 0),
    restarting: true,
    expected: "waiting CrashLoopBackOff / exited 0",
  },
  { name: "exited 1, Never", policy: "Never", seen: dead("a", 1), expected: "exited 1" },
  {
    name: "exited 1, Never, stopped to be restarted",
    policy: "Never",
    seen: dead("a", 1),
    restarting: true,
    expected: "waiting CrashLoopBackOff / exited 1",
  },
  {
    name: "own Always in a Never pod",
    own: { restartPolicy: "Always" },
    policy: "Never",
    seen: dead("a", 1),
    expected: "waiting CrashLoopBackOff / exited 1",
  },
  {
    name: "the same with the gate off",
    own: { restartPolicy: "Always" },
    policy: "Never",
    seen: dead("a", 1),
    gatesOff: true,
    expected: "exited 1",
  },
  { name: "never made", expected: "waiting CrashLoopBackOff" },
  { name: "running", seen: criContainer("a"), expected: "running" },
  { name: "ordinary init, exited 0", group: "init", seen: dead("a", 0), expected: "exited 0" },
  {
    name: "ordinary init, exited 1",
    group: "init",
    seen: dead("a", 1),
    expected: "waiting CrashLoopBackOff / exited 1",
  },
  { name: "ordinary init, exited 1, Never", group: "init", policy: "Never", seen: dead("a", 1), expected: "exited 1" },
  {
    name: "sidecar, exited 0, Never",
    group: "init",
    own: { restartPolicy: "Always" },
    policy: "Never",
    seen: dead("a", 0),
    expected: "waiting CrashLoopBackOff / exited 0",
  },
  {
    name: "sidecar, exited 0, Never, gates off",
    group: "init",
    own: { restartPolicy: "Always" },
    policy: "Never",
    seen: dead("a", 0),
    gatesOff: true,
    expected: "waiting CrashLoopBackOff / exited 0",
  },
  { name: "ephemeral, exited 1", group: "ephemeral", seen: dead("a", 1), expected: "exited 1" },
  { name: "ephemeral, never made", group: "ephemeral", expected: "waiting CrashLoopBackOff" },
];

describe("a container that a back-off holds up", () => {
  for (const { name, group = "app", own, policy, seen, restarting, gatesOff, expected } of rows) {
    test(name, () => {
      const mine = [c("a", own)];
      const spec: Partial<PodSpec> = {
        containers: group === "app" ? mine : [c("z")],
        ...(group === "init" && { initContainers: mine }),
        ...(group === "ephemeral" && { ephemeralContainers: mine }),
        ...(policy && { restartPolicy: policy }),
      };
      const status = compute({
        pod: makePod(spec),
        observed: observedPod(seen === undefined ? [] : [seen]),
        startErrors: new Map([["a", BACK_OFF]]),
        ...(restarting === true && { restarting: new Set(["a"]) }),
        ...(gatesOff === true && { gates: { containerRestartRules: false, restartAllContainers: false } }),
      });
      const lists = { init: status.initContainerStatuses, app: status.containerStatuses };
      const [found] = (group === "ephemeral" ? status.ephemeralContainerStatuses : lists[group]) ?? [];
      assert.ok(found);
      assert.equal(shown(found), expected);
    });
  }
});

describe("waiting reasons go through with their texts", () => {
  const reasons = [
    "ErrImagePull",
    "ImagePullBackOff",
    "ErrImageNeverPull",
    "InvalidImageName",
    "ImageInspectError",
    "RegistryUnavailable",
    "SignatureValidationFailed",
    "CreateContainerConfigError",
    "PreCreateHookError",
    "CreateContainerError",
    "PreStartHookError",
    "RunContainerError",
    "PostStartHookError",
    "CrashLoopBackOff",
  ];
  for (const reason of reasons) {
    test(reason, () => {
      const status = compute({ startErrors: new Map([["a", { reason, message: `text of ${reason}` }]]) });
      assert.deepEqual(status.containerStatuses?.[0]?.state, { waiting: { reason, message: `text of ${reason}` } });
      assert.equal(status.phase, "Pending");
    });
  }
});

test("a pod whose last container was stopped to be restarted has not succeeded", () => {
  const pod = makePod({ restartPolicy: "OnFailure" });
  const observed = observedPod([dead("a", 0)]);
  assert.equal(compute({ pod, observed }).phase, "Succeeded");
  assert.equal(compute({ pod, observed, restarting: new Set(["a"]) }).phase, "Running");
  const never = makePod({ restartPolicy: "Never", initContainers: [c("i")] });
  const init = { pod: never, observed: observedPod([dead("i", 137)]) };
  assert.equal(compute(init).phase, "Failed");
  assert.equal(compute({ ...init, restarting: new Set(["i"]) }).phase, "Pending");
});

describe("RestartAllContainers", () => {
  const rule = { action: "RestartAllContainers" as const, exitCodes: { operator: "In" as const, values: [88] } };
  const pod = makePod({
    restartPolicy: "Never",
    containers: [c("a", { restartPolicy: "Never", restartPolicyRules: [rule] }), c("b")],
    initContainers: [c("i")],
  });
  const start: PodStatus = {
    phase: "Running",
    initContainerStatuses: [exited("i", 0)],
    containerStatuses: [running("a"), running("b", { restartCount: 3 })],
  };
  const condition = (status: PodStatus): string | undefined =>
    status.conditions?.find(({ type }) => type === "AllContainersRestarting")?.status;
  const all = new Set(["a", "b", "i"]);
  const fired = compute({
    pod,
    previous: start,
    observed: observedPod([dead("a", 88), criContainer("b"), dead("i", 0)]),
    restartingAll: { active: true, removed: new Set() },
  });
  const removed = compute({ pod, previous: fired, restartingAll: { active: false, removed: all } });
  const names = ({ containerStatuses = [], initContainerStatuses = [] }: PodStatus): string[] =>
    [...initContainerStatuses, ...containerStatuses].map((one) => `${one.name} ${shown(one)} ${one.restartCount}`);

  test("after the rule applied, the pod runs and its status shows the restart", () => {
    assert.deepEqual([fired.phase, condition(fired)], ["Running", "True"]);
    assert.equal(condition(compute({ pod, previous: start, observed: observedPod([criContainer("b")]) })), "False");
  });

  test("removed containers wait, their counts are one higher, and the pod starts again", () => {
    assert.deepEqual(names(removed), [
      "i waiting RestartingAllContainers / exited 137 1",
      "a waiting RestartingAllContainers / exited 137 1",
      "b waiting RestartingAllContainers / exited 137 1",
    ]);
    const text = "The container is removed because RestartAllContainers in place";
    const [first] = removed.containerStatuses ?? [];
    assert.equal(first?.state.waiting?.message, text);
    assert.deepEqual(first.lastState.terminated, {
      exitCode: 137,
      reason: "RestartingAllContainers",
      message: text,
      startedAt: null,
      finishedAt: null,
    });
    assert.deepEqual([removed.phase, condition(removed)], ["Running", "True"]);
  });

  test("it stays so until each container exists again, for a restarted kubelet too", () => {
    const again = { ...dead("i", 0), id: containerIdOf("i-id of the new one") };
    const later = compute({ pod, previous: removed, observed: observedPod([again]) });
    assert.deepEqual(names(later).slice(1), names(removed).slice(1));
    assert.equal(condition(later), "True");
    const observed = observedPod([criContainer("a"), criContainer("b"), again]);
    const back = compute({ pod, previous: later, observed });
    assert.deepEqual(names(back), [
      "i exited 0 / exited 137 0",
      "a running / exited 137 0",
      "b running / exited 137 0",
    ]);
    assert.deepEqual([back.phase, condition(back)], ["Running", "False"]);
    assert.deepEqual(compute({ pod, previous: back, observed }), back);
  });

  test("the reason that then keeps one of them from starting is shown, and counted once", () => {
    const failing = (previous: PodStatus): PodStatus =>
      compute({
        pod,
        previous,
        observed: observedPod([dead("i", 0)]),
        restartingAll: { active: false, removed: new Set(["a", "b"]) },
        startErrors: new Map([["a", { reason: "ErrImagePull", message: "no" }]]),
      });
    const once = failing(removed);
    assert.equal(names(once)[1], "a waiting ErrImagePull / exited 137 1");
    assert.deepEqual(failing(once), once);
  });
});
