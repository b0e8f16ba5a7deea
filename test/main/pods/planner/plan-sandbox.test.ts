// Plans for a pod whose sandbox can't be used, row by row.
// @promise Pods: Every row of upstream's tables for sandboxes, init containers, sidecars, app and ephemeral containers,
//   restart policies and rules.
// @with test/main/pods/planner/plan-init.test.ts, test/main/pods/planner/plan-regular.test.ts,
//   test/main/pods/planner/plan-ephemeral.test.ts, test/main/pods/planner/plan-restart-all.test.ts,
//   test/main/pods/status, test/main/model/restart.test.ts

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Container, PodSpec } from "../../../../src/shared/kubernetes/api/pod.js";
import { lines, planOf, type Seen } from "../../../support/plan-rows.js";
import { container, pod } from "../../../support/pods.js";

interface Row {
  name: string;
  policy?: PodSpec["restartPolicy"];
  inits?: Container[];
  apps?: Container[];
  spec?: Partial<PodSpec>;
  sandboxes: string[];
  seen?: Seen;
  stopped?: string[];
  gates?: { containerRestartRules: boolean };
  expected: string[];
}
const DEAD = ["0 dead"];
const ANEW = ["create-sandbox 1"];
const OVER = ["finished"];
const [app, other, one] = [container("app"), container("other"), container("one")];
const kill = (name: string, why: string): string => `kill ${name} 30s: ${why}`;

const rows: Row[] = [
  { name: "none: the first", sandboxes: [], expected: ["create-sandbox 0"] },
  { name: "several ready: all stop", sandboxes: ["4 ready", "0 ready"], expected: ["stop-sandbox", "stop-sandbox"] },
  {
    name: "several ready: what runs stops first",
    sandboxes: ["1 ready", "0 ready"],
    seen: { app: "running" },
    expected: [kill("app", "several sandboxes are ready at once")],
  },
  {
    name: "all stopped: the next attempt",
    sandboxes: ["4 dead", "0 dead"],
    expected: ["create-sandbox 5", "remove-sandbox"],
  },
  {
    name: "not ready: what runs stops",
    sandboxes: DEAD,
    seen: { app: "running" },
    expected: [kill("app", "the sandbox is no longer ready")],
  },
  { name: "not ready, Always", sandboxes: DEAD, seen: { app: "exited 137" }, expected: ANEW },
  { name: "other network mode", spec: { hostNetwork: true }, sandboxes: ["0 ready"], expected: ["stop-sandbox"] },
  { name: "no longer the host's network", sandboxes: ["0 host"], expected: ["stop-sandbox"] },
  {
    name: "host network needs no address",
    spec: { hostNetwork: true },
    sandboxes: ["0 host"],
    expected: ["start app"],
  },
  {
    name: "address lost",
    sandboxes: ["0 no-ip"],
    seen: { app: "running" },
    expected: [kill("app", "the sandbox has lost its address")],
  },
  { name: "nothing ever ran, Never", policy: "Never", sandboxes: DEAD, expected: ANEW },
  {
    name: "only made, never started, Never",
    policy: "Never",
    sandboxes: DEAD,
    seen: { app: "created" },
    expected: ["create-sandbox 1"],
  },
  {
    name: "something ran, Never: the end",
    policy: "Never",
    apps: [app, other],
    sandboxes: DEAD,
    seen: { app: "exited 137" },
    expected: OVER,
  },
  {
    name: "an init container ran, Never: the end",
    policy: "Never",
    inits: [one],
    sandboxes: DEAD,
    seen: { one: "exited 0" },
    expected: OVER,
  },
  {
    name: "attempt 0 though something ran, Never",
    policy: "Never",
    apps: [app, other],
    sandboxes: [],
    seen: { app: "exited 1" },
    expected: ["create-sandbox 0"],
  },
  {
    name: "Never, but one has a policy of its own",
    policy: "Never",
    apps: [app, container("other", { restartPolicy: "Always" })],
    sandboxes: DEAD,
    seen: { app: "exited 0", other: "exited 137" },
    expected: ANEW,
  },
  {
    name: "the same with the gate off",
    policy: "Never",
    apps: [app, container("other", { restartPolicy: "Always" })],
    sandboxes: DEAD,
    seen: { app: "exited 0", other: "exited 137" },
    gates: { containerRestartRules: false },
    expected: OVER,
  },
  {
    name: "OnFailure, all exited 0: the end",
    policy: "OnFailure",
    apps: [app, other],
    sandboxes: DEAD,
    seen: { app: "exited 0", other: "exited 0" },
    expected: OVER,
  },
  {
    name: "OnFailure, one exited 0: the other again",
    policy: "OnFailure",
    apps: [app, other],
    sandboxes: DEAD,
    seen: { app: "exited 0", other: "exited 137" },
    expected: ANEW,
  },
  {
    name: "OnFailure, exited 0 as its sandbox went: again",
    policy: "OnFailure",
    sandboxes: DEAD,
    seen: { app: "exited 0" },
    stopped: ["app"],
    expected: ANEW,
  },
  {
    name: "OnFailure in the new sandbox: what exited 0 is skipped",
    policy: "OnFailure",
    apps: [app, other],
    sandboxes: ["1 ready", "0 dead"],
    seen: { app: "exited 0 old", other: "exited 137 old" },
    expected: ["start other"],
  },
  {
    name: "an init container failed for good",
    inits: [container("one", { restartPolicy: "Never" })],
    sandboxes: DEAD,
    seen: { one: "exited 1" },
    expected: OVER,
  },
  {
    name: "an init container failed, Always",
    inits: [one],
    sandboxes: DEAD,
    seen: { one: "exited 1" },
    expected: ANEW,
  },
  {
    name: "the new sandbox: the first init container alone",
    inits: [one, container("two")],
    sandboxes: ["1 ready", "0 dead"],
    seen: { app: "exited 137 old", two: "exited 0 old", one: "exited 0 old" },
    expected: ["start one"],
  },
  {
    name: "the new sandbox: sidecars only in their turn",
    inits: [one, container("side", { restartPolicy: "Always" })],
    sandboxes: ["1 ready", "0 dead"],
    seen: { app: "exited 137 old", side: "exited 137 old", one: "exited 0 old" },
    expected: ["start one"],
  },
  {
    name: "dead sandboxes of which nothing is kept go",
    sandboxes: ["2 ready", "1 dead", "0 dead"],
    seen: { app: "running" },
    expected: ["remove-sandbox", "remove-sandbox"],
  },
  {
    name: "one that holds a container's last word stays",
    policy: "OnFailure",
    apps: [app, other],
    sandboxes: ["2 ready", "1 dead"],
    seen: { other: "running", app: "exited 0 old" },
    expected: [],
  },
];

describe("a sandbox that can't be used", () => {
  for (const row of rows) {
    test(row.name, () => {
      const { policy, inits, apps = [app], spec, sandboxes, seen, stopped, gates, expected } = row;
      const plan = planOf({
        pod: pod({
          ...spec,
          ...(policy && { restartPolicy: policy }),
          ...(inits && { initContainers: inits }),
          containers: apps,
        }),
        sandboxes,
        ...(seen && { seen }),
        ...(stopped && { restarting: stopped }),
        ...(gates && { gates }),
      });
      assert.deepEqual(lines(plan), expected);
    });
  }

  test("SandboxChanged is recorded for a new sandbox, not for the first", () => {
    const events = (sandboxes: string[]) => (planOf({ pod: pod(), sandboxes }).events ?? []).map(({ event }) => event);
    assert.deepEqual(events([]), []);
    assert.deepEqual(events(DEAD), [
      { type: "Normal", reason: "SandboxChanged", message: "Pod sandbox changed, it will be killed and re-created." },
    ]);
  });
});
