// Status of a container from the runtime's state and the previous status, row by row.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { ProbeResult } from "../../../../src/main/model/probe-results.js";
import { computePodStatus } from "../../../../src/main/pods/status/compute-pod-status.js";
import type {
  ApiContainerStatus,
  ContainerState,
  PodStatus,
} from "../../../../src/shared/kubernetes/api/pod-status.js";
import type { Container, PodSpec } from "../../../../src/shared/kubernetes/api/pod.js";
import { ContainerState as S } from "../../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import type { ObservedContainer } from "../../../../src/shared/kubernetes/cri/observed-pod.js";
import { c, criContainer, exited, makePod, NOW, observedPod, running, sec, waiting } from "./fixtures.js";

const WHEN_TERMINATED = "The container could not be located when the pod was terminated";
const WHEN_DELETED = "The container could not be located when the pod was deleted.  The container used to be Running";
const LOST_INIT =
  "Unable to get init container status from container runtime and pod has been initialized, treat it as exited normally";
const count = (restarts: number) => ({ "io.kubernetes.container.restartCount": String(restarts) });
const cri = (state: S, rest: Parameters<typeof criContainer>[1] = {}): ObservedContainer =>
  criContainer("a", { state, ...rest });
const ended = (exitCode: number, rest: Parameters<typeof criContainer>[1] = {}): ObservedContainer =>
  cri(S.CONTAINER_EXITED, { exitCode, finishedAt: sec(1010), reason: exitCode === 0 ? "Completed" : "Error", ...rest });

/** "running", "waiting REASON", "REASON CODE MESSAGE". */
function text({ running: runs, waiting: waits, terminated }: ContainerState): string {
  if (runs !== undefined) return "running";
  if (waits !== undefined) return `waiting ${waits.reason ?? ""}`.trim();
  if (terminated === undefined) return "";
  return [terminated.reason, terminated.exitCode, terminated.message].filter((word) => word !== undefined).join(" ");
}

interface Row {
  name: string;
  init?: Partial<Container>;
  spec?: Partial<PodSpec>;
  deleted?: true;
  seen?: ObservedContainer[];
  old?: ApiContainerStatus;
  /** State, last state, restart count. */
  expected: [state: string, last: string, restarts: number];
}
const rows: Row[] = [
  { name: "running", seen: [cri(S.CONTAINER_RUNNING, { annotations: count(2) })], expected: ["running", "", 2] },
  { name: "created", seen: [cri(S.CONTAINER_CREATED)], expected: ["waiting", "", 0] },
  { name: "exited", seen: [ended(3, { message: "words" })], expected: ["Error 3 words", "", 0] },
  {
    name: "exited, the runtime's reason",
    seen: [ended(137, { reason: "OOMKilled" })],
    expected: ["OOMKilled 137", "", 0],
  },
  { name: "failed to start", seen: [ended(128, { reason: "StartError" })], expected: ["StartError 128", "", 0] },
  {
    name: "unknown, ran before",
    seen: [cri(S.CONTAINER_UNKNOWN)],
    old: running("a", { restartCount: 2 }),
    expected: [`ContainerStatusUnknown 137 ${WHEN_TERMINATED}`, "", 3],
  },
  { name: "unknown, waited before", seen: [cri(S.CONTAINER_UNKNOWN)], old: waiting("a"), expected: ["waiting", "", 0] },
  { name: "nothing, no init containers", expected: ["waiting ContainerCreating", "", 0] },
  {
    name: "nothing, init containers",
    spec: { initContainers: [c("i")] },
    expected: ["waiting PodInitializing", "", 0],
  },
  { name: "nothing of an init container", init: {}, expected: ["waiting PodInitializing", "", 0] },
  { name: "nothing, terminated before", old: exited("a", 3, "Error"), expected: ["Error 3", "", 0] },
  {
    name: "nothing, waited after an end",
    old: { ...waiting("a", 5), restartCount: 4 },
    expected: ["waiting ContainerCreating", "5", 4],
  },
  {
    name: "nothing, ran before",
    old: running("a", { restartCount: 1 }),
    expected: ["waiting ContainerCreating", `ContainerStatusUnknown 137 ${WHEN_DELETED}`, 2],
  },
  {
    name: "nothing, ran before, the pod is being deleted",
    deleted: true,
    old: running("a", { restartCount: 1 }),
    expected: ["waiting ContainerCreating", `ContainerStatusUnknown 137 ${WHEN_DELETED}`, 1],
  },
  {
    name: "nothing, ran before after an end",
    old: running("a", { restartCount: 1, lastState: { terminated: { exitCode: 7, reason: "Error" } } }),
    expected: ["waiting ContainerCreating", "Error 7", 1],
  },
  {
    name: "nothing of an ordinary init container, an app exists",
    init: {},
    seen: [criContainer("app")],
    expected: [`Completed 0 ${LOST_INIT}`, "", 0],
  },
  {
    name: "nothing of a sidecar, an app exists",
    init: { restartPolicy: "Always" },
    seen: [criContainer("app")],
    expected: ["waiting PodInitializing", "", 0],
  },
  {
    name: "several: the newest, and the one before it",
    seen: [
      cri(S.CONTAINER_RUNNING, { id: "3", annotations: count(2) }),
      ended(2, { id: "2", annotations: count(1) }),
      ended(1, { id: "1" }),
    ],
    expected: ["running", "Error 2", 2],
  },
  {
    name: "a newer one was removed before it ran: its start stays counted",
    seen: [ended(2, { id: "1" })],
    old: {
      ...waiting("a"),
      restartCount: 1,
      containerID: "containerd://2",
      lastState: { terminated: { exitCode: 2, containerID: "containerd://1" } },
    },
    expected: ["Error 2", "", 1],
  },
  {
    name: "that one again: its start stays counted",
    seen: [ended(2, { id: "1" })],
    old: { ...exited("a", 2, "Error"), restartCount: 1, containerID: "containerd://1" },
    expected: ["Error 2", "", 1],
  },
  {
    name: "one that was not shown before has its own count",
    seen: [cri(S.CONTAINER_RUNNING, { id: "3" })],
    old: { ...exited("a", 2, "Error"), restartCount: 1, containerID: "containerd://1" },
    expected: ["running", "", 0],
  },
];

describe("a container's state", () => {
  for (const { name, init, spec, deleted, seen = [], old, expected } of rows) {
    test(name, () => {
      const containers = init === undefined ? [c("a")] : [c("app")];
      const inits = init === undefined ? {} : { initContainers: [c("a", init)] };
      const metadata = deleted === true ? { deletionTimestamp: "2026-11-21T06:00:00Z" } : {};
      const list = init === undefined ? "containerStatuses" : "initContainerStatuses";
      const status = computePodStatus({
        pod: makePod({ ...spec, containers, ...inits }, metadata),
        observed: observedPod(seen),
        ...(old && { previous: { phase: "Running", [list]: [old] } }),
        nodeIPs: [],
        runtimeName: "containerd",
        podLevelResources: false,
        stopSignals: false,
        imageVolumeDigests: false,
        changesOnRestart: false,
        now: NOW,
      });
      const found = status[list]?.find((one) => one.name === "a");
      assert.ok(found);
      assert.deepEqual([text(found.state), text(found.lastState), found.restartCount], expected);
    });
  }
});

type Verdict = ProbeResult | undefined;
interface Readiness {
  name: string;
  group: "app" | "sidecar" | "init" | "ephemeral";
  seen?: ObservedContainer;
  /** undefined: the container has no such probe; null: it has, without a result. */
  startup?: ProbeResult | null;
  readiness?: ProbeResult | null;
  expected: [started: boolean | undefined, ready: boolean];
}
const up = cri(S.CONTAINER_RUNNING);
const readiness: Readiness[] = [
  { name: "no probes", group: "app", seen: up, expected: [true, true] },
  { name: "startup without result", group: "app", seen: up, startup: null, expected: [false, false] },
  {
    name: "startup Failure",
    group: "app",
    seen: up,
    startup: "Failure",
    readiness: "Success",
    expected: [false, false],
  },
  { name: "startup Success", group: "app", seen: up, startup: "Success", expected: [true, true] },
  { name: "readiness without result", group: "app", seen: up, readiness: null, expected: [true, false] },
  { name: "readiness Failure", group: "app", seen: up, readiness: "Failure", expected: [true, false] },
  { name: "readiness Success", group: "app", seen: up, readiness: "Success", expected: [true, true] },
  { name: "both Success", group: "app", seen: up, startup: "Success", readiness: "Success", expected: [true, true] },
  { name: "exited", group: "app", seen: ended(0), startup: "Success", readiness: "Success", expected: [false, false] },
  { name: "not there", group: "app", expected: [false, false] },
  { name: "running", group: "sidecar", seen: up, expected: [true, true] },
  { name: "startup without result", group: "sidecar", seen: up, startup: null, expected: [false, false] },
  { name: "readiness Failure", group: "sidecar", seen: up, readiness: "Failure", expected: [true, false] },
  { name: "exited 0", group: "sidecar", seen: ended(0), expected: [false, false] },
  { name: "running", group: "init", seen: up, expected: [true, false] },
  { name: "exited 0", group: "init", seen: ended(0), expected: [false, true] },
  { name: "exited 1", group: "init", seen: ended(1), expected: [false, false] },
  { name: "running", group: "ephemeral", seen: up, expected: [undefined, false] },
  { name: "exited 0", group: "ephemeral", seen: ended(0), expected: [undefined, false] },
];

describe("started and ready", () => {
  for (const { name, group, seen, startup, readiness: ready, expected } of readiness) {
    test(`${group}: ${name}`, () => {
      const probe = { tcpSocket: { port: 1 } };
      const mine = c("a", {
        ...(startup !== undefined && { startupProbe: probe }),
        ...(ready !== undefined && { readinessProbe: probe }),
        ...(group === "sidecar" && { restartPolicy: "Always" }),
      });
      const inits = group === "init" || group === "sidecar" ? [mine] : [];
      const verdict = (result: ProbeResult | null | undefined) => (): Verdict => result ?? undefined;
      const status = computePodStatus({
        pod: makePod({
          containers: group === "app" ? [mine] : [c("app")],
          initContainers: inits,
          ephemeralContainers: group === "ephemeral" ? [mine] : [],
        }),
        observed: observedPod(seen === undefined ? [] : [seen]),
        probes: { startup: verdict(startup), readiness: verdict(ready), liveness: verdict(undefined) },
        nodeIPs: [],
        runtimeName: "containerd",
        podLevelResources: false,
        stopSignals: false,
        imageVolumeDigests: false,
        changesOnRestart: false,
        now: NOW,
      });
      const { initContainerStatuses = [], containerStatuses = [], ephemeralContainerStatuses = [] } = status;
      const all = [...initContainerStatuses, ...containerStatuses, ...ephemeralContainerStatuses];
      const found = all.find((one) => one.name === "a");
      assert.deepEqual([found?.started, found?.ready], expected);
    });
  }
});

test("a container that never started has the epoch as its start, and as its end if the runtime gives none", () => {
  const rows: [seen: ObservedContainer, expected: object][] = [
    [
      ended(128, { reason: "StartError", startedAt: 0n }),
      { startedAt: "1970-01-01T00:00:00Z", finishedAt: "1970-01-01T00:16:50Z" },
    ],
    [
      ended(128, { reason: "StartError", startedAt: 0n, finishedAt: 0n }),
      { startedAt: "1970-01-01T00:00:00Z", finishedAt: "1970-01-01T00:00:00Z" },
    ],
  ];
  for (const [seen, expected] of rows) {
    const { containerStatuses = [] } = computePodStatus({
      pod: makePod({ containers: [c("a")] }),
      observed: observedPod([seen]),
      nodeIPs: [],
      runtimeName: "containerd",
      podLevelResources: false,
      stopSignals: false,
      imageVolumeDigests: false,
      changesOnRestart: false,
      now: NOW,
    });
    const [status] = containerStatuses;
    const terminated = status?.state.terminated ?? status?.lastState.terminated;
    const { startedAt, finishedAt } = terminated ?? {};
    assert.deepEqual({ startedAt, finishedAt }, expected);
  }
});

describe("a running container with probes whose results a restart of the kubelet lost", () => {
  for (const changesOnRestart of [false, true]) {
    const what = changesOnRestart ? "is neither started nor ready" : "stays started and ready";
    test(`${what} with ChangeContainerStatusOnKubeletRestart=${changesOnRestart}`, () => {
      const probe = { tcpSocket: { port: 1 } };
      const pod = makePod({ containers: [c("a", { startupProbe: probe, readinessProbe: probe })] });
      const observed = observedPod([up]);
      const common = { pod, observed, nodeIPs: [], runtimeName: "containerd", podLevelResources: false, now: NOW };
      const gates = { stopSignals: false, imageVolumeDigests: false, changesOnRestart };
      const passing = (): Verdict => "Success";
      const probes = { startup: passing, readiness: passing, liveness: passing };
      const previous = computePodStatus({ ...common, ...gates, probes });
      assert.deepEqual(startedAndReady(previous), [true, true]);
      const next = computePodStatus({ ...common, ...gates, previous });
      assert.deepEqual(startedAndReady(next), changesOnRestart ? [false, false] : [true, true]);
    });
  }
});

function startedAndReady({ containerStatuses = [] }: PodStatus): (boolean | undefined)[] {
  return containerStatuses.flatMap(({ started, ready }) => [started, ready]);
}
