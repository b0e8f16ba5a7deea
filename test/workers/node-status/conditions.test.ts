// Conditions of the node: messages, transitions, events.

import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { monotonicTime } from "../../../src/shared/base/clock/moments.js";
import type { RuntimeFacts } from "../../../src/shared/contracts/node-status.js";
import type { NodeCondition } from "../../../src/shared/kubernetes/api/node.js";
import { nextConditions, notReadyReasons, type ReadyInput } from "../../../src/workers/node-status/conditions.js";
import { FACTS, HEALTHY } from "./node-status-kit.js";

const runtime = FACTS.runtime!;
const READY: ReadyInput = {
  runtime,
  health: HEALTHY,
  storageProblem: "",
  shuttingDown: false,
  missingCapacity: [],
  nowMs: monotonicTime(100_000),
};
const details = (part: Partial<RuntimeFacts["details"]>): RuntimeFacts => ({
  ...runtime,
  details: { ...runtime.details, ...part },
});
const CNI = { status: false, reason: "NetworkPluginNotReady", message: "cni plugin not initialized" };

const reasons: [string, Partial<ReadyInput>, string[]][] = [
  ["all is well", {}, []],
  [
    "nothing is known",
    { runtime: undefined },
    ["container runtime status check may not have completed yet", "network state unknown"],
  ],
  [
    "a runtime that is silent for less than 30 s",
    { runtime: { ...runtime, silentSinceMs: monotonicTime(70_001) } },
    [],
  ],
  [
    "a runtime that is silent for 30 s",
    { runtime: { ...runtime, silentSinceMs: monotonicTime(70_000) } },
    ["container runtime is down"],
  ],
  [
    "a runtime without network",
    { runtime: details({ networkReady: CNI }) },
    [
      "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:cni plugin not initialized",
    ],
  ],
  [
    "a runtime that is not ready",
    { runtime: details({ runtimeReady: { status: false, reason: "Starting", message: "soon" } }) },
    ["container runtime not ready: RuntimeReady=false reason:Starting message:soon"],
  ],
  [
    "all at once, in upstream's order",
    {
      runtime: { ...details({ networkReady: CNI }), silentSinceMs: monotonicTime(0) },
      health: {
        stalls: ["main is not healthy: …"],
        plegProblem: "pleg was last seen active 3m1s ago; threshold is 3m0s",
      },
      storageProblem: "CSINode is not there",
      shuttingDown: true,
      missingCapacity: ["cpu", "pods"],
    },
    [
      "container runtime is down",
      "PLEG is not healthy: pleg was last seen active 3m1s ago; threshold is 3m0s",
      "main is not healthy: …",
      "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:cni plugin not initialized",
      "CSINode is not there",
      "node is shutting down",
      "missing node capacity for resources: cpu, pods",
    ],
  ],
];
for (const [what, input, expected] of reasons) {
  test(`the node is not ready: ${what}`, () => deepEqual(notReadyReasons({ ...READY, ...input }), expected));
}

const T0 = "2026-11-21T18:00:00Z";
const T1 = "2026-11-21T18:05:00Z";
const condition = (type: string, status: NodeCondition["status"], reason: string, message: string): NodeCondition => ({
  type,
  status,
  reason,
  message,
  lastHeartbeatTime: T0,
  lastTransitionTime: T0,
});
const FIRST = [
  condition("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
  condition("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
  condition("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
  condition("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
];

test("a new node: all four in order, events for pressures, none for Ready", () => {
  deepEqual(nextConditions([], [], [], T0), {
    conditions: FIRST,
    events: ["NodeHasSufficientMemory", "NodeHasNoDiskPressure", "NodeHasSufficientPID"],
  });
});

test("nothing changed: only heartbeats move; a foreign condition stays as and where it is", () => {
  const foreign = condition("NetworkUnavailable", "False", "CalicoIsUp", "");
  const { conditions, events } = nextConditions([foreign, ...FIRST], [], [], T1);
  deepEqual(events, []);
  deepEqual(conditions, [foreign, ...FIRST.map((known) => ({ ...known, lastHeartbeatTime: T1 }))]);
});

test("each pressure sets its condition and event", () => {
  const { conditions, events } = nextConditions(FIRST, ["MemoryPressure", "DiskPressure", "PIDPressure"], [], T1);
  deepEqual(events, ["NodeHasInsufficientMemory", "NodeHasDiskPressure", "NodeHasInsufficientPID"]);
  deepEqual(
    conditions
      .slice(0, 3)
      .map(({ status, reason, message, lastTransitionTime }) => [status, reason, message, lastTransitionTime]),
    [
      ["True", "KubeletHasInsufficientMemory", "kubelet has insufficient memory available", T1],
      ["True", "KubeletHasDiskPressure", "kubelet has disk pressure", T1],
      ["True", "KubeletHasInsufficientPID", "kubelet has insufficient PID available", T1],
    ],
  );
});

const ready: [string, NodeCondition | undefined, string[], [string, string, string, string], string[]][] = [
  ["turns away", FIRST[3], ["a"], ["False", "KubeletNotReady", "a", T1], ["NodeNotReady"]],
  ["several reasons", FIRST[3], ["a", "b"], ["False", "KubeletNotReady", "[a, b]", T1], ["NodeNotReady"]],
  [
    "another reason of the same verdict",
    condition("Ready", "False", "KubeletNotReady", "a"),
    ["b"],
    ["False", "KubeletNotReady", "b", T0],
    [],
  ],
  [
    "what the node controller wrote",
    condition("Ready", "Unknown", "NodeStatusUnknown", "Kubelet stopped posting node status."),
    [],
    ["True", "KubeletReady", "kubelet is posting ready status", T1],
    ["NodeReady"],
  ],
  ["for the first time, not ready", undefined, ["a"], ["False", "KubeletNotReady", "a", T1], []],
];
for (const [what, before, why, after, event] of ready) {
  test(`Ready: ${what}`, () => {
    const { conditions, events } = nextConditions([...FIRST.slice(0, 3), ...(before ? [before] : [])], [], why, T1);
    const { status, reason, message, lastTransitionTime } = conditions[3]!;
    deepEqual([status, reason, message, lastTransitionTime], after);
    deepEqual(events, event);
  });
}
