import assert from "node:assert/strict";
import { test } from "node:test";
import type { ConditionsInput } from "../../../../src/main/pods/status/conditions.js";
import { podConditions } from "../../../../src/main/pods/status/conditions.js";
import type { PodCondition } from "../../../../src/shared/kubernetes/api/pod-status.js";
import { c, exited, makePod, NOW, running, waiting } from "./fixtures.js";

const side = c("s", { restartPolicy: "Always" });
function conditions(rest: Partial<ConditionsInput>) {
  const list = podConditions({
    pod: makePod(),
    phase: "Running",
    initStatuses: [],
    statuses: [running("a")],
    readyToStart: true,
    previous: [],
    now: NOW,
    ...rest,
  });
  return (type: string) => {
    const found = list.find((each) => each.type === type);
    return found && [found.status, found.reason ?? "", found.message ?? ""];
  };
}
const withInit = makePod({ initContainers: [c("i"), side] });
const TRUE = ["True", "", ""];

const rows: [string, string, Partial<ConditionsInput>, string[] | undefined][] = [
  ["scheduled", "PodScheduled", {}, TRUE],
  ["sandbox ready", "PodReadyToStartContainers", {}, TRUE],
  ["no sandbox", "PodReadyToStartContainers", { readyToStart: false }, ["False", "", ""]],
  ["no init containers", "Initialized", { statuses: [] }, TRUE],
  ["no statuses", "Initialized", { pod: withInit, statuses: [] }, ["False", "UnknownContainerStatuses", ""]],
  [
    "init incomplete and unknown",
    "Initialized",
    { pod: withInit, initStatuses: [running("i", { ready: false })], statuses: [waiting("a")] },
    [
      "False",
      "ContainersNotInitialized",
      "containers with unknown status: [s], containers with incomplete status: [i]",
    ],
  ],
  [
    "sidecar not started",
    "Initialized",
    { pod: withInit, initStatuses: [exited("i", 0), running("s", { started: false })], statuses: [waiting("a")] },
    ["False", "ContainersNotInitialized", "containers with incomplete status: [s]"],
  ],
  [
    "init done",
    "Initialized",
    { pod: withInit, initStatuses: [exited("i", 0), running("s")], statuses: [waiting("a")] },
    TRUE,
  ],
  ["an app has started", "Initialized", { pod: withInit, initStatuses: [waiting("i")] }, TRUE],
  [
    "succeeded",
    "Initialized",
    { pod: withInit, phase: "Succeeded", initStatuses: [exited("i", 0), exited("s", 0)], statuses: [exited("a", 0)] },
    ["True", "PodCompleted", ""],
  ],
  [
    "succeeded without init containers",
    "Initialized",
    { phase: "Succeeded", statuses: [exited("a", 0)] },
    ["True", "PodCompleted", ""],
  ],
  ["failed without init containers", "Initialized", { phase: "Failed", statuses: [exited("a", 1)] }, TRUE],
  ["no statuses", "ContainersReady", { statuses: [] }, ["False", "UnknownContainerStatuses", ""]],
  ["all ready", "ContainersReady", {}, TRUE],
  ["succeeded", "ContainersReady", { phase: "Succeeded", statuses: [exited("a", 0)] }, ["False", "PodCompleted", ""]],
  ["failed", "ContainersReady", { phase: "Failed" }, ["False", "PodFailed", ""]],
  [
    "unready and unknown",
    "ContainersReady",
    {
      pod: makePod({ containers: [c("x"), c("a"), c("b")], initContainers: [side] }),
      initStatuses: [running("s", { ready: false })],
      statuses: [running("a", { ready: false }), running("b")],
    },
    ["False", "ContainersNotReady", "containers with unknown status: [x], containers with unready status: [s a]"],
  ],
  [
    "copied",
    "Ready",
    { statuses: [running("a", { ready: false })] },
    ["False", "ContainersNotReady", "containers with unready status: [a]"],
  ],
  ["ready", "Ready", {}, TRUE],
  [
    "gates",
    "Ready",
    {
      pod: makePod({ readinessGates: [{ conditionType: "g1" }, { conditionType: "g2" }, { conditionType: "g3" }] }),
      previous: [
        { type: "g2", status: "False" },
        { type: "g3", status: "True" },
      ],
    },
    [
      "False",
      "ReadinessGatesNotReady",
      'corresponding condition of pod readiness gate "g1" does not exist., the status of pod readiness gate "g2" is not "True", but False',
    ],
  ],
  ["none without failure", "DisruptionTarget", { phase: "Failed" }, undefined],
  ["while running", "DisruptionTarget", { phase: "Failed", disruption: "d" }, undefined],
  ["before the end", "DisruptionTarget", { disruption: "d", statuses: [exited("a", 0)] }, undefined],
  [
    "at the end",
    "DisruptionTarget",
    { phase: "Failed", disruption: "d", statuses: [exited("a", 0)] },
    ["True", "TerminationByKubelet", "d"],
  ],
  [
    "refused",
    "PodResizePending",
    { resize: [{ type: "PodResizePending", status: "True", reason: "Deferred", message: "m" }] },
    ["True", "Deferred", "m"],
  ],
  [
    "over: it goes, though it was there",
    "PodResizeInProgress",
    { previous: [{ type: "PodResizeInProgress", status: "True" }] },
    undefined,
  ],
  ["without the rule", "AllContainersRestarting", { restartingAll: true }, undefined],
];
for (const [name, type, input, expected] of rows) {
  test(`condition ${type}: ${name}`, () => assert.deepEqual(conditions(input)(type), expected));
}

test("condition AllContainersRestarting of a pod that can use the rule", () => {
  const pod = makePod({
    containers: [c("a", { restartPolicy: "Never", restartPolicyRules: [{ action: "RestartAllContainers" }] })],
  });
  const of = (rest: Partial<ConditionsInput>) => conditions({ pod, ...rest })("AllContainersRestarting");
  assert.deepEqual(of({ restartingAll: true }), [
    "True",
    "RestartAllContainersStarted",
    "container exited with restart policy rule",
  ]);
  assert.deepEqual(of({}), ["False", "", ""]);
  assert.deepEqual(of({ phase: "Succeeded" }), ["False", "PodCompleted", ""]);
  assert.deepEqual(of({ phase: "Failed" }), ["False", "PodFailed", ""]);
});

test("transition time changes with the status only; foreign conditions stay as they are", () => {
  const foreign: PodCondition = {
    type: "example.com/x",
    status: "Unknown",
    reason: "r",
    lastTransitionTime: "2020-01-01T00:00:00Z",
  };
  const old: PodCondition[] = [
    foreign,
    { type: "Ready", status: "True", lastTransitionTime: "2020-01-01T00:00:00Z" },
    { type: "ContainersReady", status: "False", reason: "Old", lastTransitionTime: "2020-01-01T00:00:00Z" },
  ];
  const input = {
    pod: makePod({}, { generation: 4 }),
    initStatuses: [],
    statuses: [running("a")],
    readyToStart: true,
    now: NOW,
  };
  const list = podConditions({ ...input, phase: "Running", previous: old });
  const find = (type: string) => list.find((each) => each.type === type);
  assert.equal(find("Ready")?.lastTransitionTime, "2020-01-01T00:00:00Z");
  assert.equal(find("ContainersReady")?.lastTransitionTime, "2026-11-21T06:30:00Z");
  assert.equal(find("ContainersReady")?.observedGeneration, 4);
  assert.deepEqual(find("example.com/x"), foreign);
  assert.deepEqual(
    podConditions({ ...input, phase: "Running", previous: list, now: NOW + 60_000 }),
    list,
    "idempotent",
  );
});
