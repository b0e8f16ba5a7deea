// Seeds aim at pairs of a fault and a call that none before has reached.

import assert from "node:assert/strict";
import { test } from "node:test";
import { ReachedTable } from "./driver/reached-table.js";
import { Random } from "./kernel/random.js";
import { FAULT_KINDS, isAim, planOf } from "./plan/events.js";
import type { ReachedValues } from "./world/reached.js";

const NOTHING: ReachedValues = {
  "outcomes of calls": [],
  "orders of a pod's calls": [],
  "calls at a fault": [],
  phases: [],
  "container states": [],
};

test("a seed aims at pairs that no seed has reached, and each turn at others", () => {
  const table = new ReachedTable();
  table.add({ ...NOTHING, "calls at a fault": ["reboot RunPodSandbox", "reboot CreateContainer"] });
  const first = table.aims(["machine"], 3, 0);
  assert.deepEqual(first, ["reboot:StartContainer", "reboot:StopContainer", "reboot:RemoveContainer"]);
  const second = table.aims(["machine"], 3, 1);
  assert.deepEqual(second, ["reboot:StopPodSandbox", "reboot:RemovePodSandbox", "reboot:PullImage"]);
  assert.ok([...first, ...second].every(isAim));
});

test("a plan with aims has all events of the plan without, and an aim in each round", () => {
  const options = { hours: 0.6, pods: 5, faults: new Set(FAULT_KINDS) };
  const plan = planOf(new Random(7), { ...options, aims: ["kill:StartContainer", "watch-cut:PullImage"] });
  const others = plan.filter(({ action }) => action.do !== "aim").map(({ atMs, action }) => ({ atMs, action }));
  assert.deepEqual(
    others,
    planOf(new Random(7), options).map(({ atMs, action }) => ({ atMs, action })),
  );
  const aims = plan.flatMap(({ action }) => (action.do === "aim" ? [`${action.fault.do} ${action.verb}`] : []));
  assert.deepEqual(aims.toSorted(), [
    "kill StartContainer",
    "kill StartContainer",
    "watch-cut PullImage",
    "watch-cut PullImage",
  ]);
});
