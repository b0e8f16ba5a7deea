// Rules of init containers and sidecars, row by row.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { ProbeResult } from "../../../../src/main/model/probe-results.js";
import type { Container, PodSpec, Probe } from "../../../../src/shared/kubernetes/api/pod.js";
import { lines, planOf, type Seen } from "../../../support/plan-rows.js";
import { container, pod } from "../../../support/pods.js";

const probe: Probe = { tcpSocket: { port: 1 }, terminationGracePeriodSeconds: 9 };
const one = container("one");
const two = container("two");
const side = (fields: Partial<Container> = {}): Container => container("side", { restartPolicy: "Always", ...fields });
const last = (fields: Partial<Container> = {}): Container => container("last", { restartPolicy: "Always", ...fields });

interface Row {
  name: string;
  inits: Container[];
  policy?: PodSpec["restartPolicy"];
  seen?: Seen;
  probes?: Record<string, ProbeResult>;
  expected: string[];
}
const END = ["stop-sandbox", "finished"];
const FAILED = "an init container failed for good";
const unknown = (name: string): string =>
  `kill ${name} 30s: Init container ${name} is in an unknown state, will be restarted`;

const rows: Row[] = [
  { name: "nothing yet: the first alone", inits: [one, two], expected: ["start one"] },
  { name: "ordinary created", inits: [one], seen: { one: "created" }, expected: ["start one"] },
  { name: "sidecar created", inits: [side()], seen: { side: "created" }, expected: ["start side"] },
  { name: "ordinary running", inits: [one, two], seen: { one: "running" }, expected: [] },
  { name: "ordinary exited 0: the next", inits: [one, two], seen: { one: "exited 0" }, expected: ["start two"] },
  {
    name: "last exited 0: the apps",
    inits: [one, two],
    seen: { two: "exited 0", one: "exited 0" },
    expected: ["start app"],
  },
  {
    name: "only the last one is known of: the apps",
    inits: [one, two],
    seen: { two: "exited 0" },
    expected: ["start app"],
  },
  { name: "ordinary failed, Always", inits: [one], seen: { one: "exited 1" }, expected: ["start one"] },
  {
    name: "ordinary failed, OnFailure",
    inits: [one],
    policy: "OnFailure",
    seen: { one: "exited 1" },
    expected: ["start one"],
  },
  { name: "ordinary failed, Never", inits: [one, two], policy: "Never", seen: { one: "exited 1" }, expected: END },
  {
    name: "ordinary failed, own Never in an Always pod",
    inits: [container("one", { restartPolicy: "Never" })],
    seen: { one: "exited 1" },
    expected: END,
  },
  {
    name: "ordinary failed, own OnFailure in a Never pod",
    inits: [container("one", { restartPolicy: "OnFailure" })],
    policy: "Never",
    seen: { one: "exited 1" },
    expected: ["start one"],
  },
  {
    name: "ordinary failed for good beside a sidecar",
    inits: [side(), one],
    policy: "Never",
    seen: { one: "exited 1", side: "running" },
    expected: [`kill side 30s: ${FAILED}`],
  },
  {
    name: "ordinary failed for good beside a dead sidecar",
    inits: [side(), one],
    policy: "Never",
    seen: { one: "exited 1", side: "exited 1" },
    expected: END,
  },
  { name: "ordinary unknown", inits: [one], seen: { one: "unknown" }, expected: [unknown("one")] },
  {
    name: "ordinary unknown, Never",
    inits: [one],
    policy: "Never",
    seen: { one: "unknown" },
    expected: [`kill one 30s: ${FAILED}`],
  },
  {
    name: "sidecar without startup probe: the next",
    inits: [side(), two],
    seen: { side: "running" },
    expected: ["start two"],
  },
  {
    name: "last sidecar running: the apps",
    inits: [one, side()],
    seen: { side: "running", one: "exited 0" },
    expected: ["start app"],
  },
  {
    name: "startup without result: wait",
    inits: [side({ startupProbe: probe }), two],
    seen: { side: "running" },
    expected: [],
  },
  {
    name: "startup without result: the apps wait",
    inits: [side({ startupProbe: probe })],
    seen: { side: "running" },
    expected: [],
  },
  {
    name: "startup Success: the next",
    inits: [side({ startupProbe: probe }), two],
    seen: { side: "running" },
    probes: { "startup side": "Success" },
    expected: ["start two"],
  },
  {
    name: "startup Success of the last: the apps",
    inits: [side({ startupProbe: probe })],
    seen: { side: "running" },
    probes: { "startup side": "Success" },
    expected: ["start app"],
  },
  {
    name: "startup Failure",
    inits: [side({ startupProbe: probe }), two],
    seen: { side: "running" },
    probes: { "startup side": "Failure" },
    expected: ["kill side 9s: Init container side failed startup probe"],
  },
  {
    name: "startup Failure, Never",
    inits: [side({ startupProbe: probe })],
    policy: "Never",
    seen: { side: "running" },
    probes: { "startup side": "Failure" },
    expected: ["kill side 9s: Init container side failed startup probe"],
  },
  {
    name: "liveness Failure",
    inits: [side({ livenessProbe: probe })],
    seen: { side: "running" },
    probes: { "liveness side": "Failure" },
    expected: ["kill side 9s: Init container side failed liveness probe"],
  },
  {
    name: "sidecar changed",
    inits: [side()],
    seen: { side: "running changed" },
    expected: ["kill side 30s: Init container side definition changed"],
  },
  { name: "sidecar exited 0", inits: [side(), two], seen: { side: "exited 0" }, expected: ["start side"] },
  {
    name: "sidecar exited 1, Never",
    inits: [side(), two],
    policy: "Never",
    seen: { side: "exited 1" },
    expected: ["start side"],
  },
  {
    name: "sidecar unknown, Never",
    inits: [side()],
    policy: "Never",
    seen: { side: "unknown" },
    expected: [unknown("side")],
  },
  {
    name: "an earlier sidecar restarts and delays no container",
    inits: [side({ startupProbe: probe }), one, two],
    seen: { one: "exited 0", side: "exited 1" },
    expected: ["start side", "start two"],
  },
  {
    name: "an earlier sidecar fails its probe",
    inits: [side({ livenessProbe: probe }), one],
    seen: { one: "running", side: "running" },
    probes: { "liveness side": "Failure" },
    expected: ["kill side 9s: Init container side failed liveness probe"],
  },
  {
    name: "with an app, ordinary ones never run again",
    inits: [one, two],
    seen: { app: "running", one: "exited 1" },
    expected: [],
  },
  {
    name: "with an app that was only made too",
    inits: [one],
    seen: { app: "created" },
    expected: ["start app"],
  },
  {
    name: "with an app, missing sidecars are started",
    inits: [side(), one, last()],
    seen: { app: "running", side: "running" },
    expected: ["start last"],
  },
  {
    name: "with an app, an unready sidecar delays no container",
    inits: [side({ startupProbe: probe })],
    seen: { app: "exited 1", side: "running" },
    expected: ["start app"],
  },
  {
    name: "with an app, a sidecar that ended comes back",
    inits: [side()],
    policy: "Never",
    seen: { app: "running", side: "exited 0" },
    expected: ["start side"],
  },
];

describe("init containers", () => {
  for (const { name, inits, policy, seen, probes, expected } of rows) {
    test(name, () => {
      const wanted = pod({ ...(policy && { restartPolicy: policy }), initContainers: inits });
      const plan = planOf({ pod: wanted, ...(seen && { seen }), ...(probes && { probes }) });
      assert.deepEqual(lines(plan), expected);
    });
  }

  test("a sidecar that is stopped is always meant to come back", () => {
    const wanted = pod({ restartPolicy: "Never", initContainers: [side({ livenessProbe: probe })] });
    const [step] = planOf({ pod: wanted, seen: { side: "running" }, probes: { "liveness side": "Failure" } }).steps;
    assert.equal(step?.kind === "kill-container" && step.restart, true);
  });

  test("of many sidecars 64 start in one pass, each after the one before; a startup probe or an ordinary one ends the chain", () => {
    const many = (count: number, odd = -1, fields: Partial<Container> = {}): Container[] =>
      Array.from({ length: count }, (_, at) =>
        container(`s${at}`, at === odd ? fields : { restartPolicy: "Always" as const }),
      );
    const chainOf = (inits: Container[], seen: Seen = {}) =>
      planOf({ pod: pod({ initContainers: inits }), seen }).steps.map((step) =>
        step.kind === "start-container" ? [step.container.name, step.after] : step.kind,
      );
    assert.deepEqual(chainOf(many(64)), [["s0", undefined]], "few: one after the other, as upstream");
    const chain = chainOf(many(100));
    assert.equal(chain.length, 64);
    assert.deepEqual(
      [chain[0], chain[1], chain[63]],
      [
        ["s0", undefined],
        ["s1", "s0"],
        ["s63", "s62"],
      ],
    );
    assert.deepEqual(chainOf(many(66), { s0: "running" })[0], ["s1", undefined]);
    assert.equal(chainOf(many(100, 3, { restartPolicy: "Always", startupProbe: probe })).length, 4);
    assert.equal(chainOf(many(100, 3)).length, 4);
  });

  test("a pod that is being deleted starts nothing", () => {
    const wanted = pod({ initContainers: [side(), one] });
    wanted.metadata.deletionTimestamp = "2026-01-01T00:00:00Z";
    assert.deepEqual(lines(planOf({ pod: wanted, seen: { side: "exited 0" } })), []);
  });
});
