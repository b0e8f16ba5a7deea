// Plans for regular containers after the init containers, row by row.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { ProbeResult } from "../../../../src/main/model/probe-results.js";
import type { Container, PodSpec, Probe } from "../../../../src/shared/kubernetes/api/pod.js";
import { lines, planOf, type Seen } from "../../../support/plan-rows.js";
import { container, pod } from "../../../support/pods.js";

const probe: Probe = { tcpSocket: { port: 1 } };
const quick: Probe = { ...probe, terminationGracePeriodSeconds: 7 };
const live = { livenessProbe: probe };
const starting = { startupProbe: probe };
const dead: Record<string, ProbeResult> = { "liveness app": "Failure" };
const stuck: Record<string, ProbeResult> = { "startup app": "Failure" };
const rule = {
  restartPolicyRules: [{ action: "Restart" as const, exitCodes: { operator: "In" as const, values: [42] } }],
};

type Policy = PodSpec["restartPolicy"];
interface Row {
  name: string;
  policy?: Policy;
  own?: Partial<Container>;
  seen?: string;
  probes?: Record<string, ProbeResult>;
  stopped?: boolean;
  gates?: { containerRestartRules: boolean };
  expected: string[];
}
const killed = (why: string, grace = 30): string[] => [`kill app ${grace}s: Container app ${why}`];
const START = ["start app"];
const END = ["stop-sandbox", "finished"];

const rows: Row[] = [
  { name: "never made", policy: "Never", expected: START },
  { name: "created", policy: "Never", seen: "created", expected: ["start app"] },
  { name: "running", seen: "running", expected: [] },
  { name: "unknown", seen: "unknown", expected: killed("is in an unknown state, will be restarted") },
  {
    name: "unknown, Never",
    policy: "Never",
    seen: "unknown",
    expected: killed("is in an unknown state, will be restarted"),
  },
  { name: "changed", seen: "running changed", expected: killed("definition changed, will be restarted") },
  {
    name: "changed, Never",
    policy: "Never",
    seen: "running changed",
    expected: killed("definition changed, will be restarted"),
  },
  { name: "stopped as it changed, Never", policy: "Never", seen: "exited 0", stopped: true, expected: START },
  {
    name: "liveness Failure",
    own: live,
    seen: "running",
    probes: dead,
    expected: killed("failed liveness probe, will be restarted"),
  },
  {
    name: "liveness Failure, OnFailure",
    policy: "OnFailure",
    own: live,
    seen: "running",
    probes: dead,
    expected: killed("failed liveness probe, will be restarted"),
  },
  {
    name: "liveness Failure, Never",
    policy: "Never",
    own: live,
    seen: "running",
    probes: dead,
    expected: killed("failed liveness probe"),
  },
  {
    name: "liveness Failure, own Always in a Never pod",
    policy: "Never",
    own: { ...live, restartPolicy: "Always" },
    seen: "running",
    probes: dead,
    expected: killed("failed liveness probe, will be restarted"),
  },
  {
    name: "liveness Failure, own Never with rules in an Always pod",
    own: { ...live, ...rule, restartPolicy: "Never" },
    seen: "running",
    probes: dead,
    expected: killed("failed liveness probe"),
  },
  {
    name: "liveness Failure, own Never, gate off",
    own: { ...live, restartPolicy: "Never" },
    seen: "running",
    probes: dead,
    gates: { containerRestartRules: false },
    expected: killed("failed liveness probe, will be restarted"),
  },
  {
    name: "liveness Failure with the probe's grace",
    own: { livenessProbe: quick },
    seen: "running",
    probes: dead,
    expected: killed("failed liveness probe, will be restarted", 7),
  },
  { name: "liveness Success", own: live, seen: "running", probes: { "liveness app": "Success" }, expected: [] },
  { name: "a verdict without a probe", seen: "running", probes: dead, expected: [] },
  {
    name: "stopped by liveness, exit 0, OnFailure",
    policy: "OnFailure",
    own: live,
    seen: "exited 0",
    stopped: true,
    expected: START,
  },
  { name: "stopped by liveness, Never", policy: "Never", own: live, seen: "exited 137", probes: dead, expected: END },
  {
    name: "startup Failure",
    own: starting,
    seen: "running",
    probes: stuck,
    expected: killed("failed startup probe, will be restarted"),
  },
  {
    name: "startup Failure, Never",
    policy: "Never",
    own: starting,
    seen: "running",
    probes: stuck,
    expected: killed("failed startup probe"),
  },
  {
    name: "startup Failure with the probe's grace",
    own: { startupProbe: quick },
    seen: "running",
    probes: stuck,
    expected: killed("failed startup probe, will be restarted", 7),
  },
  { name: "startup without result", own: starting, seen: "running", expected: [] },
  {
    name: "changed goes before a probe's verdict",
    own: { livenessProbe: quick },
    seen: "running changed",
    probes: dead,
    expected: killed("definition changed, will be restarted"),
  },
  { name: "exited 0, Always", seen: "exited 0", expected: START },
  { name: "exited 1, Always", seen: "exited 1", expected: START },
  { name: "exited 0, OnFailure", policy: "OnFailure", seen: "exited 0", expected: END },
  { name: "exited 1, OnFailure", policy: "OnFailure", seen: "exited 1", expected: START },
  { name: "exited 0, Never", policy: "Never", seen: "exited 0", expected: END },
  { name: "exited 1, Never", policy: "Never", seen: "exited 1", expected: END },
  {
    name: "own Always in a Never pod, exit 0",
    policy: "Never",
    own: { restartPolicy: "Always" },
    seen: "exited 0",
    expected: START,
  },
  {
    name: "own OnFailure in a Never pod, exit 1",
    policy: "Never",
    own: { restartPolicy: "OnFailure" },
    seen: "exited 1",
    expected: START,
  },
  { name: "own Never in an Always pod, exit 1", own: { restartPolicy: "Never" }, seen: "exited 1", expected: END },
  {
    name: "own Never in an Always pod, gate off",
    own: { restartPolicy: "Never" },
    seen: "exited 1",
    gates: { containerRestartRules: false },
    expected: START,
  },
  { name: "rule fits", policy: "Never", own: { ...rule, restartPolicy: "Never" }, seen: "exited 42", expected: START },
  { name: "rule does not fit", own: { ...rule, restartPolicy: "Never" }, seen: "exited 41", expected: END },
  {
    name: "rule fits, gate off",
    policy: "Never",
    own: { ...rule, restartPolicy: "Never" },
    seen: "exited 42",
    gates: { containerRestartRules: false },
    expected: END,
  },
];

describe("regular containers", () => {
  for (const { name, policy, own, seen, probes, stopped, gates, expected } of rows) {
    test(name, () => {
      const plan = planOf({
        pod: pod({ ...(policy && { restartPolicy: policy }), containers: [container("app", own)] }),
        ...(seen !== undefined && { seen: { app: seen } }),
        ...(probes && { probes }),
        ...(stopped === true && { restarting: ["app"] }),
        ...(gates && { gates }),
      });
      assert.deepEqual(lines(plan), expected);
    });
  }

  test("a stop for a restart carries the restart mark, a final stop does not", () => {
    const restartOf = (policy: Policy): unknown => {
      const wanted = pod({ ...(policy && { restartPolicy: policy }), containers: [container("app", live)] });
      const [step] = planOf({ pod: wanted, seen: { app: "running" }, probes: dead }).steps;
      return step?.kind === "kill-container" && step.restart;
    };
    assert.equal(restartOf("OnFailure"), true);
    assert.equal(restartOf("Never"), undefined);
  });

  test("a deletion's grace goes before a probe's", () => {
    const wanted = pod({ containers: [container("app", { livenessProbe: quick })] });
    wanted.metadata.deletionGracePeriodSeconds = 11;
    assert.deepEqual(
      lines(planOf({ pod: wanted, seen: { app: "running" }, probes: dead })),
      killed("failed liveness probe, will be restarted", 11),
    );
  });

  const two = [container("app"), container("other")];
  const pairs: [string, Policy, Seen, string[]][] = [
    ["one ended for good, one runs", "Never", { app: "exited 1", other: "running" }, []],
    ["one ended for good, one not made yet", "Never", { app: "exited 1" }, ["start other"]],
    ["both ended for good", "Never", { app: "exited 1", other: "exited 0" }, END],
    ["one comes back, one is done", "OnFailure", { app: "exited 1", other: "exited 0" }, START],
  ];
  for (const [name, restartPolicy, seen, expected] of pairs) {
    test(`two containers: ${name}`, () => {
      const wanted = pod({ ...(restartPolicy && { restartPolicy }), containers: two });
      assert.deepEqual(lines(planOf({ pod: wanted, seen })), expected);
    });
  }

  test("the end of the pod takes sidecars along: last of the spec first, none is started again", () => {
    const sidecar = { restartPolicy: "Always" as const };
    const wanted = pod({
      restartPolicy: "Never",
      initContainers: ["s1", "s2", "s3"].map((name) => container(name, sidecar)),
    });
    const ended = (seen: Seen) => lines(planOf({ pod: wanted, seen: { app: "exited 0", ...seen } }));
    const why = "all containers have exited and none will start again";
    const both = [`kill s2 30s: ${why}`, `kill s1 30s: ${why}`];
    assert.deepEqual(ended({ s1: "running", s2: "running", s3: "exited 1" }), both);
    assert.deepEqual(ended({ s1: "running", s2: "exited 0", s3: "exited 1" }), [`kill s1 30s: ${why}`]);
    assert.deepEqual(ended({ s1: "exited 0", s2: "exited 0", s3: "exited 1" }), END);
  });
});
