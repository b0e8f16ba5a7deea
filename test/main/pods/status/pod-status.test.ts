import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { formatIP } from "../../../../src/main/model/format-ip.js";
import { podIPs } from "../../../../src/main/model/pod-ips.js";
import {
  type StatusInput,
  computePodStatus,
  deadlineMessage,
  rejectedPodStatus,
} from "../../../../src/main/pods/status/compute-pod-status.js";
import { finalStatus, hadInitialized, reportableStatus } from "../../../../src/main/pods/status/final-status.js";
import {
  fallsBackToLog,
  fileMessage,
  joinMessages,
  logMessage,
} from "../../../../src/main/pods/status/termination-message.js";
import type { PodStatus } from "../../../../src/shared/kubernetes/api/pod-status.js";
import type { PodSpec } from "../../../../src/shared/kubernetes/api/pod.js";
import {
  ContainerState as S,
  NamespaceMode,
  PodSandboxState,
  Signal,
} from "../../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { containerIdOf } from "../../../../src/shared/kubernetes/identifiers.js";
import { c, criContainer, criSandbox, exited, makePod, NOW, observedPod, running, sec, waiting } from "./fixtures.js";

const RESTARTS = "io.kubernetes.container.restartCount";
function compute(rest: Partial<StatusInput> = {}): PodStatus {
  return computePodStatus({
    pod: makePod(),
    observed: observedPod([criContainer("a")]),
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
const first = (status: PodStatus) => {
  const found = status.containerStatuses?.[0];
  assert.ok(found);
  return found;
};
const prev = (status: Partial<PodStatus>): PodStatus => ({ phase: "Running", ...status });
const exitedCri = (exitCode: number, rest: Parameters<typeof criContainer>[1] = {}) =>
  criContainer("a", {
    state: S.CONTAINER_EXITED,
    exitCode,
    finishedAt: sec(1010),
    reason: exitCode ? "Error" : "Completed",
    ...rest,
  });

test("a running pod, whole", () => {
  const status = compute({ pod: makePod({}, { generation: 2 }), qosClass: "BestEffort" });
  assert.equal(status.phase, "Running");
  assert.equal(status.startTime, "2026-11-21T06:30:00Z");
  assert.equal(status.observedGeneration, 2);
  assert.equal(status.qosClass, "BestEffort");
  assert.deepEqual([status.podIP, status.podIPs, status.hostIP], ["10.0.0.5", [{ ip: "10.0.0.5" }], "192.0.2.1"]);
  assert.deepEqual(first(status), {
    name: "a",
    state: { running: { startedAt: "1970-01-01T00:16:41Z" } },
    lastState: {},
    ready: true,
    restartCount: 0,
    image: "img:1",
    imageID: "sha256:1",
    containerID: "containerd://a-id",
    resources: {},
    started: true,
  });
  assert.ok(status.conditions?.every((each) => each.status === "True"));
});

test("each CRI state becomes a container state", () => {
  const state = (s: S, previous?: PodStatus) =>
    first(compute({ observed: observedPod([criContainer("a", { state: s })]), ...(previous && { previous }) }));
  assert.deepEqual(state(S.CONTAINER_CREATED).state, { waiting: {} });
  assert.deepEqual(state(S.CONTAINER_UNKNOWN).state, { waiting: {} });
  const lost = state(S.CONTAINER_UNKNOWN, prev({ containerStatuses: [running("a", { restartCount: 2 })] }));
  assert.equal(lost.restartCount, 3);
  assert.equal(lost.state.terminated?.exitCode, 137);
  assert.equal(lost.state.terminated.reason, "ContainerStatusUnknown");
  assert.equal(lost.state.terminated.message, "The container could not be located when the pod was terminated");
  const dead = compute({
    observed: observedPod([exitedCri(1, { message: "rt" })]),
    terminationMessages: new Map([[containerIdOf("a-id"), "own"]]),
  });
  assert.deepEqual(first(dead).state.terminated, {
    exitCode: 1,
    reason: "Error",
    message: "rt: own",
    startedAt: "1970-01-01T00:16:41Z",
    finishedAt: "1970-01-01T00:16:50Z",
    containerID: "containerd://a-id",
  });
});

test("nothing in the runtime: defaults and values of the earlier status", () => {
  const none = observedPod([]);
  assert.deepEqual(first(compute({ observed: none })).state, { waiting: { reason: "ContainerCreating" } });
  assert.equal(compute({ observed: undefined }).phase, "Pending");
  const withInit = compute({ pod: makePod({ initContainers: [c("i")] }), observed: none });
  assert.deepEqual(first(withInit).state, { waiting: { reason: "PodInitializing" } });
  assert.deepEqual(withInit.initContainerStatuses?.[0]?.state, { waiting: { reason: "PodInitializing" } });
  const kept = exited("a", 3);
  assert.deepEqual(first(compute({ observed: none, previous: prev({ containerStatuses: [kept] }) })).state, kept.state);
  const carried = first(
    compute({ observed: none, previous: prev({ containerStatuses: [{ ...waiting("a", 5), restartCount: 7 }] }) }),
  );
  assert.deepEqual([carried.restartCount, carried.lastState.terminated?.exitCode], [7, 5]);
  const previous = prev({ containerStatuses: [running("a", { restartCount: 1 })] });
  const gone = first(compute({ observed: none, previous }));
  assert.equal(gone.restartCount, 2);
  assert.equal(
    gone.lastState.terminated?.message,
    "The container could not be located when the pod was deleted.  The container used to be Running",
  );
  const pod = makePod({}, { deletionTimestamp: "2026-11-21T06:00:00Z" });
  assert.equal(first(compute({ pod, observed: none, previous })).restartCount, 1);
  const again = compute({ observed: none, previous: compute({ observed: none, previous }) });
  assert.equal(first(again).restartCount, 2, "counted once");
});

test("an init container that the runtime forgot counts as done once an app exists", () => {
  const status = compute({ pod: makePod({ initContainers: [c("i")] }) });
  const init = status.initContainerStatuses?.[0];
  assert.deepEqual(
    [init?.state.terminated?.exitCode, init?.state.terminated?.reason, init?.ready],
    [0, "Completed", true],
  );
  assert.match(init?.state.terminated?.message ?? "", /treat it as exited normally$/);
  assert.equal(status.phase, "Running");
});

test("newest container is the state, the one before the last state", () => {
  const list = [
    criContainer("a", { id: "n3", createdAt: sec(3000), annotations: { [RESTARTS]: "5" } }),
    exitedCri(2, { id: "n2", createdAt: sec(2000) }),
    exitedCri(1, { id: "n1" }),
  ];
  const status = first(compute({ observed: observedPod(list) }));
  assert.deepEqual(
    [status.restartCount, status.containerID, status.lastState.terminated?.containerID],
    [5, "containerd://n3", "containerd://n2"],
  );
});

test("a start error shows as waiting, where the container would be started", () => {
  const startErrors = new Map([["a", { reason: "CrashLoopBackOff", message: "m" }]]);
  const spec = (restartPolicy: PodSpec["restartPolicy"]) => makePod({ ...(restartPolicy && { restartPolicy }) });
  const looping = compute({ startErrors, observed: observedPod([exitedCri(1)]) });
  assert.deepEqual(first(looping).state, { waiting: { reason: "CrashLoopBackOff", message: "m" } });
  assert.equal(first(looping).lastState.terminated?.exitCode, 1);
  assert.equal(looping.phase, "Running");
  assert.equal(compute({ startErrors, observed: observedPod([]) }).phase, "Pending");
  const over = compute({ startErrors, pod: spec("Never"), observed: observedPod([exitedCri(1)]) });
  assert.deepEqual([first(over).state.terminated?.exitCode, over.phase], [1, "Failed"]);
  assert.ok(first(compute({ startErrors })).state.running, "a running container has no start error");
  const done = criContainer("i", { state: S.CONTAINER_EXITED, exitCode: 0 });
  const init = (restartPolicy?: "Always") =>
    compute({
      startErrors: new Map([["i", { reason: "R", message: "" }]]),
      pod: makePod({ initContainers: [c("i", restartPolicy && { restartPolicy })] }),
      observed: observedPod([done]),
    }).initContainerStatuses?.[0]?.state;
  assert.ok(init()?.terminated, "an ordinary init container that is done stays so");
  assert.equal(init("Always")?.waiting?.reason, "R", "a sidecar is started again");
});

test("removed for a restart of all containers", () => {
  const restartingAll = { active: false, removed: new Set(["a"]) };
  const previous = prev({ containerStatuses: [running("a", { restartCount: 1 })] });
  const once = compute({ observed: observedPod([]), previous, restartingAll });
  const twice = compute({ observed: observedPod([]), previous: once, restartingAll });
  for (const status of [once, twice]) {
    assert.equal(first(status).state.waiting?.reason, "RestartingAllContainers");
    assert.equal(first(status).lastState.terminated?.exitCode, 137);
    assert.equal(first(status).restartCount, 2);
    assert.equal(status.phase, "Running");
  }
});

test("started and ready follow the probes; an adopted container keeps its results until they run", () => {
  const probe = { tcpSocket: { port: 1 } };
  const of = (
    container: Parameters<typeof c>[1],
    startup?: "Success" | "Failure",
    readiness?: "Success" | "Failure",
    previous?: PodStatus,
  ) => {
    const status = compute({
      pod: makePod({ containers: [c("a", container)] }),
      probes: { startup: () => startup, readiness: () => readiness, liveness: () => undefined },
      ...(previous && { previous }),
    });
    return [first(status).started, first(status).ready];
  };
  const both = { startupProbe: probe, readinessProbe: probe };
  assert.deepEqual(of({}), [true, true]);
  assert.deepEqual(of({ readinessProbe: probe }), [true, false]);
  assert.deepEqual(of({ readinessProbe: probe }, undefined, "Success"), [true, true]);
  assert.deepEqual(of({ startupProbe: probe }), [false, false]);
  assert.deepEqual(of(both, "Success", "Failure"), [true, false]);
  assert.deepEqual(of(both, "Failure", "Success"), [false, false]);
  assert.deepEqual(
    of(both, undefined, undefined, prev({ containerStatuses: [running("a", { containerID: "containerd://a-id" })] })),
    [true, true],
  );
  assert.deepEqual(
    of(both, undefined, undefined, prev({ containerStatuses: [running("a", { containerID: "containerd://x" })] })),
    [false, false],
  );
});

test("order: init by spec, the others by name", () => {
  const spec: PodSpec = {
    containers: [c("b"), c("a")],
    initContainers: [c("z"), c("y")],
    ephemeralContainers: [c("f"), c("e")],
  };
  const status = compute({ pod: makePod(spec), observed: observedPod([]) });
  const names = [status.initContainerStatuses, status.containerStatuses, status.ephemeralContainerStatuses];
  assert.deepEqual(
    names.map((list) => list?.map(({ name }) => name)),
    [
      ["z", "y"],
      ["a", "b"],
      ["e", "f"],
    ],
  );
});

test("mounts, user, resources and stop signal", () => {
  const resources = { requests: { cpu: "1" }, limits: { cpu: "2" } };
  const container = c("a", {
    resources,
    volumeMounts: [
      { name: "v", mountPath: "/v" },
      { name: "w", mountPath: "/w", readOnly: true },
      { name: "x", mountPath: "/x", readOnly: true },
    ],
  });
  const observed = observedPod([
    criContainer("a", {
      mounts: [{ containerPath: "/x", recursiveReadOnly: true }],
      user: { linux: { uid: 1n, gid: 2n, supplementalGroups: [3n] } },
      stopSignal: Signal.SIGRTMIN,
    }),
  ]);
  const status = first(compute({ pod: makePod({ containers: [container] }), observed, stopSignals: true }));
  assert.deepEqual(status.volumeMounts, [
    { name: "v", mountPath: "/v" },
    { name: "w", mountPath: "/w", readOnly: true, recursiveReadOnly: "Disabled" },
    { name: "x", mountPath: "/x", readOnly: true, recursiveReadOnly: "Enabled" },
  ]);
  assert.deepEqual(status.user, { linux: { uid: 1, gid: 2, supplementalGroups: [3] } });
  assert.deepEqual([status.resources, status.allocatedResources], [resources, { cpu: "1" }]);
  assert.equal(status.stopSignal, "SIGRTMIN");
});

test("a container that does not exist yet shows the mounts of its definition", () => {
  const container = c("a", {
    volumeMounts: [
      { name: "v", mountPath: "/v" },
      { name: "w", mountPath: "/w", readOnly: true, recursiveReadOnly: "IfPossible" },
      { name: "x", mountPath: "/x", readOnly: true, recursiveReadOnly: "Enabled" },
      {
        name: "y",
        mountPath: "/y",
        readOnly: true,
        recursiveReadOnly: "IfPossible",
        mountPropagation: "HostToContainer",
      },
      { name: "z", mountPath: "/z", readOnly: true, recursiveReadOnly: "Disabled" },
    ],
  });
  const pod = makePod({ containers: [container] });
  const shown = (recursiveReadOnly?: boolean) => {
    const status = first(compute({ pod, observed: observedPod([]), ...(recursiveReadOnly && { recursiveReadOnly }) }));
    assert.deepEqual(status.state, { waiting: { reason: "ContainerCreating" } });
    return status.volumeMounts;
  };
  const expected = (mode: "Enabled" | "Disabled") => [
    { name: "v", mountPath: "/v" },
    { name: "w", mountPath: "/w", readOnly: true, recursiveReadOnly: mode },
    { name: "x", mountPath: "/x", readOnly: true, recursiveReadOnly: mode },
    { name: "y", mountPath: "/y", readOnly: true, recursiveReadOnly: "Disabled" },
    { name: "z", mountPath: "/z", readOnly: true, recursiveReadOnly: "Disabled" },
  ];
  assert.deepEqual(shown(), expected("Disabled"), "as a runtime without the feature resolves them");
  assert.deepEqual(shown(true), expected("Enabled"), "as a runtime with it resolves them");
  const created = observedPod([criContainer("a", { mounts: [{ containerPath: "/w", recursiveReadOnly: true }] })]);
  assert.deepEqual(
    first(compute({ pod, observed: created })).volumeMounts?.map(({ recursiveReadOnly }) => recursiveReadOnly),
    [undefined, "Enabled", "Disabled", "Disabled", "Disabled"],
    "the runtime's mounts count once it exists",
  );
});

test("with the gate ImageVolumeWithDigest a mount shows the digest that the runtime reports for it, and nothing else", () => {
  const volumeMounts = ["id", "ref", "plain", "absent"].map((name) => ({ name, mountPath: `/${name}` }));
  const mounts = [
    { containerPath: "/id", image: { image: "sha256:1" } },
    { containerPath: "/ref", image: { image: "sha256:1", imageRef: "registry.test/tool@sha256:2" } },
    { containerPath: "/plain", hostPath: "/dir" },
  ];
  const shown = (imageVolumeDigests: boolean) => {
    const pod = makePod({ containers: [c("a", { volumeMounts })] });
    const observed = observedPod([criContainer("a", { mounts })]);
    return first(compute({ pod, observed, imageVolumeDigests })).volumeMounts?.map(({ volumeStatus }) => volumeStatus);
  };
  assert.deepEqual(shown(true), [
    undefined,
    { image: { imageRef: "registry.test/tool@sha256:2" } },
    undefined,
    undefined,
  ]);
  assert.deepEqual(shown(false), [undefined, undefined, undefined, undefined]);
});

test("a pod is ready to start containers with its sandbox and its volumes, and stays so with the sandbox", () => {
  const condition = (rest: Partial<StatusInput>): string | undefined =>
    compute(rest).conditions?.find(({ type }) => type === "PodReadyToStartContainers")?.status;
  const observed = observedPod([]);
  const volumesMissing = () => true;
  assert.equal(condition({ observed }), "True");
  assert.equal(condition({ observed, volumesMissing }), "False", "the sandbox is there before the volumes");
  assert.equal(condition({ observed, volumesMissing: () => false }), "True");
  assert.equal(condition({ volumesMissing }), "True", "a container of the sandbox has been created");
  assert.equal(condition({ observed, volumesMissing, previous: compute({ observed }) }), "True", "it was true before");
  assert.equal(condition({ observed: { ...observed, sandboxes: [] }, previous: compute({ observed }) }), "False");
});

test("phase overrides, in order", () => {
  const failed = prev({ phase: "Failed", reason: "Evicted", message: "m" });
  const kept = compute({ previous: failed });
  assert.deepEqual([kept.phase, kept.reason, kept.message], ["Failed", "Evicted", "m"]);
  const api = { ...makePod(), status: prev({ phase: "Succeeded" }) };
  assert.equal(compute({ pod: api, previous: prev({}) }).phase, "Succeeded");
  assert.equal(
    compute({ pod: api, previous: prev({ phase: "Failed" }) }).phase,
    "Succeeded",
    "the API's final phase is forced",
  );
  assert.equal(compute({ previous: prev({ reason: "R" }) }).reason, "R");
  assert.equal(compute({ previous: prev({ phase: "Pending", reason: "R" }) }).reason, undefined);
  const pod = makePod({ activeDeadlineSeconds: 60 });
  const startTime = "2026-11-21T06:29:00Z";
  const late = compute({ pod, previous: prev({ startTime }) });
  assert.deepEqual([late.phase, late.reason, late.message], ["Failed", "DeadlineExceeded", deadlineMessage]);
  assert.equal(compute({ pod, previous: prev({ startTime }), now: NOW - 1000 }).phase, "Running", "59.7 s is in time");
  const evicted = compute({
    failure: { reason: "Evicted", message: "low", disruption: "low" },
    observed: observedPod([exitedCri(137)]),
  });
  assert.deepEqual([evicted.phase, evicted.reason, evicted.message], ["Failed", "Evicted", "low"]);
  assert.ok(evicted.conditions?.some(({ type }) => type === "DisruptionTarget"));
  assert.equal(evicted.conditions?.find(({ type }) => type === "Ready")?.reason, "PodFailed");
});

describe("a pod that the kubelet ends: its containers determine the phase", () => {
  const evicted = { reason: "Evicted", message: "low", disruption: "low" };
  const late = { reason: "DeadlineExceeded", message: deadlineMessage, always: true as const };
  const staticPod = makePod({}, { annotations: { "kubernetes.io/config.source": "file" } });
  const rows: [what: string, input: Partial<StatusInput>, phase: string, reason: string | undefined][] = [
    ["all exited with 0", { observed: observedPod([exitedCri(0)]) }, "Succeeded", undefined],
    ["one exited with 143", { observed: observedPod([exitedCri(143)]) }, "Failed", "Evicted"],
    ["none was created", { observed: observedPod([]) }, "Failed", "Evicted"],
    ["0 after the active deadline", { observed: observedPod([exitedCri(0)]), failure: late }, "Failed", late.reason],
    [
      "0 of a static pod, which would restart",
      { pod: staticPod, observed: observedPod([exitedCri(0)]) },
      "Failed",
      "Evicted",
    ],
  ];
  for (const [what, input, phase, reason] of rows) {
    test(what, () => {
      const status = compute({ podFinal: true, failure: evicted, ...input });
      assert.deepEqual(
        [status.phase, status.reason, status.message !== undefined],
        [phase, reason, reason !== undefined],
      );
      const target = status.conditions?.find(({ type }) => type === "DisruptionTarget")?.message;
      assert.equal(target, input.failure === undefined ? "low" : undefined);
      assert.deepEqual(
        compute({ podFinal: true, failure: evicted, ...input, previous: status }),
        status,
        "a fixed point",
      );
    });
  }
});

test("status is a fixed point: fed back, it does not change", () => {
  const state = fc.constantFrom(S.CONTAINER_CREATED, S.CONTAINER_RUNNING, S.CONTAINER_EXITED);
  const one = fc.tuple(fc.constantFrom("a", "b", "i"), state, fc.constantFrom(0, 1), fc.nat(50));
  const policy = fc.constantFrom<PodSpec["restartPolicy"][]>("Always", "OnFailure", "Never");
  fc.assert(
    fc.property(fc.array(one, { maxLength: 6 }), policy, fc.boolean(), (list, restartPolicy, error) => {
      const containers = list
        .map(([name, s, exitCode, at], index) =>
          criContainer(name, { id: `c${index}`, state: s, exitCode, createdAt: sec(1000 + at), finishedAt: sec(2000) }),
        )
        .sort((x, y) => Number(y.createdAt - x.createdAt));
      const pod = makePod({
        containers: [c("a"), c("b")],
        initContainers: [c("i")],
        ...(restartPolicy && { restartPolicy }),
      });
      const startErrors = new Map(error ? [["a", { reason: "R", message: "m" }]] : []);
      const input = { pod, observed: observedPod(containers), startErrors };
      const status = compute(input);
      assert.deepEqual(compute({ ...input, previous: status, now: NOW + 90_000 }), status);
    }),
  );
});

test("a rejected pod has phase Failed and a reason", () => {
  assert.deepEqual(rejectedPodStatus("NodePorts", "no", "Burstable", NOW), {
    phase: "Failed",
    reason: "NodePorts",
    message: "Pod was rejected: no",
    qosClass: "Burstable",
    startTime: "2026-11-21T06:30:00Z",
  });
});

test("a pod's addresses begin with the node's primary IP family", () => {
  const dual = (ready = true) => ({
    sandboxes: [
      criSandbox({
        network: { ip: "10.0.0.5", additionalIps: [{ ip: "10.0.0.6" }, { ip: "FD00:0:0::5" }] },
        state: ready ? PodSandboxState.SANDBOX_READY : PodSandboxState.SANDBOX_NOTREADY,
      }),
    ],
  });
  const pod = makePod();
  assert.deepEqual(podIPs(pod, dual(), ["192.0.2.1"], undefined), ["10.0.0.5", "fd00::5"]);
  assert.deepEqual(podIPs(pod, dual(), ["fd00::1"], undefined), ["fd00::5", "10.0.0.5"]);
  const old = prev({ podIPs: [{ ip: "10.9.9.9" }] });
  assert.deepEqual(podIPs(pod, dual(false), [], old), ["10.9.9.9"], "kept after the end");
  assert.deepEqual(podIPs(pod, dual(), [], old), ["10.0.0.5", "fd00::5"]);
  const host = makePod({ hostNetwork: true });
  const none = { sandboxes: [criSandbox({ linux: { namespaces: { options: { network: NamespaceMode.NODE } } } })] };
  assert.deepEqual(podIPs(host, none, ["192.0.2.1"], undefined), ["192.0.2.1"]);
  assert.deepEqual(podIPs(host, none, ["192.0.2.7", "fd00::1"], prev({ podIPs: [{ ip: "192.0.2.1" }] })), [
    "192.0.2.1",
    "fd00::1",
  ]);
  assert.equal(formatIP("nonsense"), undefined);
});

test("after the end every container that may have run shows a termination", () => {
  const pod = makePod({ initContainers: [c("i"), c("j")] });
  const init = prev({
    phase: "Pending",
    initContainerStatuses: [waiting("i"), waiting("j")],
    containerStatuses: [waiting("a")],
  });
  const early = finalStatus(pod, init, false, NOW);
  assert.equal(early.phase, "Failed");
  assert.equal(early.initContainerStatuses?.[0]?.state.terminated?.exitCode, 137, "the first is always included");
  assert.ok(early.initContainerStatuses[1]?.state.waiting, "the trailing run that never left waiting is not");
  assert.ok(first(early).state.waiting, "not initialized: apps never ran");
  const second = finalStatus(pod, { ...init, initContainerStatuses: [exited("i", 0), waiting("j", 1)] }, false, NOW);
  assert.equal(second.initContainerStatuses?.[1]?.state.terminated?.reason, "ContainerStatusUnknown");
  const ran = prev({ containerStatuses: [running("a")] });
  const final = finalStatus(makePod(), ran, false, NOW);
  assert.deepEqual([final.phase, first(final).state.terminated?.exitCode, first(final).ready], ["Failed", 137, false]);
  assert.equal(final.conditions?.find(({ type }) => type === "Ready")?.status, "False");
  assert.equal(finalStatus(makePod(), ran, true, NOW).phase, "Running", "static pods are not failed by their end");
  const good = prev({ phase: "Succeeded", containerStatuses: [exited("a", 0)] });
  assert.deepEqual(finalStatus(makePod(), good, false, NOW).containerStatuses, good.containerStatuses);
  assert.equal(finalStatus(makePod(), good, false, NOW).phase, "Succeeded");
});

test("a pod counts as initialized once its init containers have run", () => {
  const side = c("i", { restartPolicy: "Always" });
  const of = (
    initContainers: PodSpec["initContainers"],
    initContainerStatuses: PodStatus["initContainerStatuses"],
    app = waiting("a"),
  ) =>
    hadInitialized(
      makePod({ ...(initContainers && { initContainers }) }),
      prev({ ...(initContainerStatuses && { initContainerStatuses }), containerStatuses: [app] }),
    );
  assert.equal(of(undefined, undefined), true);
  assert.equal(of([c("i")], [waiting("i")]), false);
  assert.equal(of([c("i")], [waiting("i")], waiting("a", 1)), true);
  assert.equal(of([c("i")], [exited("i", 0)]), true);
  assert.equal(of([c("i")], [exited("i", 1)]), false);
  assert.equal(of([c("i")], [waiting("i", 0)]), true);
  assert.equal(of([side], [running("i")]), true);
  assert.equal(of([side], [running("i", { started: false })]), false);
});

test("a final phase is held back while containers may run", () => {
  const next = prev({ phase: "Failed", reason: "Evicted", message: "m" });
  const held = reportableStatus(prev({ reason: "R" }), next, true);
  assert.deepEqual([held.phase, held.reason, held.message], ["Running", "R", undefined]);
  assert.equal(reportableStatus(prev({}), next, false), next);
  assert.equal(reportableStatus(undefined, next, true), next);
  assert.equal(reportableStatus(prev({ phase: "Succeeded" }), next, true), next);
});

test("termination messages: limits and fallback", () => {
  assert.equal(fileMessage(Buffer.from("hello")), "hello");
  assert.equal(fileMessage(Buffer.from("x".repeat(5000) + "end")).length, 4096);
  assert.ok(fileMessage(Buffer.from("é".repeat(3000) + "x")).startsWith("é"), "no half character");
  assert.equal(logMessage("a\n".repeat(100)), "a\n".repeat(80));
  assert.equal(logMessage(`${"y".repeat(3000)}\n`).length, 2048);
  assert.equal(joinMessages("a", "b") + joinMessages("a", "") + joinMessages("", "b"), "a: bab");
  const error = { exitCode: 1, reason: "Error" };
  assert.equal(fallsBackToLog("FallbackToLogsOnError", "", error), true);
  assert.equal(fallsBackToLog("FallbackToLogsOnError", "text", error), false);
  assert.equal(fallsBackToLog("FallbackToLogsOnError", "", { ...error, exitCode: 0 }), false);
  assert.equal(fallsBackToLog("FallbackToLogsOnError", "", { ...error, reason: "ContainerCannotRun" }), false);
  assert.equal(fallsBackToLog("File", "", error), false);
});

test("the pod's share of termination message bytes", () => {
  const containers = ["a", "b", "c", "d", "e", "f"].map((name) => c(name));
  const observed = observedPod([exitedCri(1, { message: "z".repeat(4000) })]);
  const status = compute({ pod: makePod({ containers }), observed });
  assert.equal(first(status).state.terminated?.message?.length, 2048);
  const alone = compute({ observed });
  assert.equal(first(alone).state.terminated?.message?.length, 4000);
});

test("a container whose postStart hook is under way runs, but is neither started nor ready", () => {
  const shown = first(compute({ inPostStart: "a" }));
  assert.deepEqual([shown.state.running !== undefined, shown.started, shown.ready], [true, false, false]);
  const other = first(compute({ inPostStart: "b" }));
  assert.deepEqual([other.started, other.ready], [true, true]);
});
