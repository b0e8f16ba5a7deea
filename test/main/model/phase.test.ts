import assert from "node:assert/strict";
import { test } from "node:test";
import { podPhase, restartingAllReason } from "../../../src/main/model/phase.js";
import type { PhaseInput } from "../../../src/main/model/phase.js";
import type { ApiContainerStatus, PodPhase } from "../../../src/shared/kubernetes/api/pod-status.js";
import type { Container, PodSpec } from "../../../src/shared/kubernetes/api/pod.js";
import { c, ended, exited, running, st, waiting } from "../pods/status/fixtures.js";

type Row = [
  string,
  PodPhase,
  PodSpec["restartPolicy"],
  ApiContainerStatus[],
  ApiContainerStatus[],
  Partial<PhaseInput>?,
];
const side = c("s", { restartPolicy: "Always" });
const pendingSide = running("s", { started: false });
const off = { gates: { containerRestartRules: false, restartAllContainers: false } };
const killedForAll = st("i", { state: { terminated: ended(137, restartingAllReason) } });

/**
 * Init containers i (ordinary) and s (sidecar) exist where a row gives statuses for them by name; regular a and b
 * always.
 */
const rows: Row[] = [
  ["nothing known", "Pending", "Always", [], []],
  ["all running", "Running", "Always", [], [running("a"), running("b")]],
  ["one running, one unknown", "Pending", "Always", [], [running("a")]],
  ["one running, one empty", "Pending", "Always", [], [running("a"), st("b")]],
  ["one waiting", "Pending", "Always", [], [running("a"), waiting("b")]],
  ["one waiting after an exit", "Running", "Always", [], [running("a"), waiting("b", 1)]],
  ["one running, one exited", "Running", "Never", [], [running("a"), exited("b", 1)]],
  ["all exited 0, Always", "Running", "Always", [], [exited("a", 0), exited("b", 0)]],
  ["all exited 0, OnFailure", "Succeeded", "OnFailure", [], [exited("a", 0), exited("b", 0)]],
  ["all exited 0, Never", "Succeeded", "Never", [], [exited("a", 0), exited("b", 0)]],
  ["one failed, Never", "Failed", "Never", [], [exited("a", 0), exited("b", 1)]],
  ["one failed, OnFailure", "Running", "OnFailure", [], [exited("a", 0), exited("b", 1)]],
  ["waiting after 0 never counts as success", "Failed", "Never", [], [exited("a", 0), waiting("b", 0)]],
  ["exited and unknown", "Pending", "Never", [], [exited("a", 0)]],
  ["worker says final, all 0", "Succeeded", "Always", [], [exited("a", 0), exited("b", 0)], { podFinal: true }],
  ["worker says final, one failed", "Failed", "Always", [], [exited("a", 0), exited("b", 2)], { podFinal: true }],
  ["final but static", "Running", "Always", [], [exited("a", 0), exited("b", 0)], { podFinal: true, isStatic: true }],
  ["removed for restart of all", "Running", "Never", [], [exited("a", 0), exited("b", 137, restartingAllReason)]],
  ["init running", "Pending", "Always", [running("i")], []],
  ["init waiting", "Pending", "Always", [waiting("i")], [waiting("a"), waiting("b")]],
  ["init failed, Never", "Failed", "Never", [exited("i", 1)], [waiting("a"), waiting("b")]],
  ["init failed, OnFailure", "Pending", "OnFailure", [exited("i", 1)], [waiting("a"), waiting("b")]],
  ["init waiting after a failure, Never", "Failed", "Never", [waiting("i", 1)], [waiting("a"), waiting("b")]],
  ["init removed for restart of all", "Pending", "Never", [killedForAll], [waiting("a"), waiting("b")]],
  ["init waiting after success", "Running", "Never", [waiting("i", 0)], [running("a"), running("b")]],
  ["init done", "Running", "Never", [exited("i", 0)], [running("a"), running("b")]],
  ["sidecar not started", "Pending", "Always", [pendingSide], [waiting("a", 0), waiting("b", 0)]],
  [
    "same, app has started",
    "Running",
    "Always",
    [pendingSide],
    [running("a"), running("b")],
    { startedInSandbox: true },
  ],
  [
    "sidecar waiting, app has started",
    "Pending",
    "Always",
    [waiting("s")],
    [running("a"), running("b")],
    { startedInSandbox: true },
  ],
  ["sidecar ended, app runs", "Running", "Always", [exited("s", 1)], [running("a"), running("b")]],
  ["sidecar waiting after an end", "Running", "Always", [waiting("s", 1)], [running("a"), running("b")]],
  ["sidecar runs, apps done", "Running", "Never", [running("s")], [exited("a", 0), exited("b", 0)]],
  ["sidecar ended, apps done", "Succeeded", "Never", [exited("s", 137)], [exited("a", 0), exited("b", 0)]],
  ["sidecar empty", "Pending", "Always", [st("s")], [running("a"), running("b")]],
  ["gate off: init failed, Never", "Failed", "Never", [exited("i", 1)], [], off],
  ["gate off: all 0, Always", "Running", "Always", [], [exited("a", 0), exited("b", 0)], off],
  ["gate off: all 0, OnFailure", "Succeeded", "OnFailure", [], [exited("a", 0), exited("b", 0)], off],
  ["gate off: one failed, Never", "Failed", "Never", [], [exited("a", 0), exited("b", 1)], off],
  ["gate off: one failed, OnFailure", "Running", "OnFailure", [], [exited("a", 0), exited("b", 1)], off],
];
for (const [name, expected, restartPolicy, initStatuses, statuses, rest] of rows) {
  test(`phase: ${name}`, () => {
    const inits: Container[] = initStatuses.map((status) => (status.name === "s" ? side : c(status.name)));
    const spec: PodSpec = {
      containers: [c("a"), c("b")],
      initContainers: inits,
      ...(restartPolicy && { restartPolicy }),
    };
    const input = { spec, initStatuses, statuses, startedInSandbox: false, podFinal: false, isStatic: false, ...rest };
    assert.equal(podPhase(input), expected);
  });
}

test("phase: a container's own policy and rules decide over the pod's", () => {
  const own = c("a", {
    restartPolicy: "Never",
    restartPolicyRules: [{ action: "Restart", exitCodes: { operator: "In", values: [42] } }],
  });
  const spec: PodSpec = { containers: [own], restartPolicy: "Always" };
  const base = { spec, initStatuses: [], startedInSandbox: true, podFinal: false, isStatic: false };
  assert.equal(podPhase({ ...base, statuses: [exited("a", 42)] }), "Running");
  assert.equal(podPhase({ ...base, statuses: [exited("a", 1)] }), "Failed");
});

test("phase: a sidecar without status is unknown", () => {
  const spec: PodSpec = { containers: [c("a")], initContainers: [side] };
  const base = { spec, initStatuses: [], startedInSandbox: true, podFinal: false, isStatic: false };
  assert.equal(podPhase({ ...base, statuses: [running("a")] }), "Pending");
});
