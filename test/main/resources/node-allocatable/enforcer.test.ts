// Enforcement of node allocatable, and its events: under virtual time.

import assert from "node:assert/strict";
import { test } from "node:test";
import { cgroupMissingError } from "../../../../src/main/resources/cgroups/cgroup-errors.js";
import type { CgroupLimits } from "../../../../src/main/resources/cgroups/cgroup-values.js";
import type { Enforcement } from "../../../../src/main/resources/node-allocatable/enforcement.js";
import { AllocatableEnforcer } from "../../../../src/main/resources/node-allocatable/enforcer.js";
import { keptLog } from "../../../support/sources-kit.js";
import { SteppedClock } from "../../../support/stepped-clock.js";
import { settle } from "../../../support/sync-kit.js";

const limits = { cpuShares: 1024n };
const enforcement: Enforcement = {
  pods: limits,
  reserved: [
    { part: "System", compressible: false, cgroup: "/system", limits },
    { part: "Kube", compressible: true, cgroup: "/kube", limits },
  ],
};

function build(podsCgroup = ["x", "kubepods"]) {
  const clock = new SteppedClock();
  const events: string[] = [];
  const written: string[] = [];
  const failures: { pods?: Error; existing?: Error } = {};
  const enforcer = new AllocatableEnforcer({
    cgroups: {
      limitPods: (given: CgroupLimits) => {
        if (failures.pods !== undefined) return Promise.reject(failures.pods);
        written.push(`pods ${given.cpuShares}`);
        return Promise.resolve();
      },
      limitExisting: (cgroup: string) => {
        if (failures.existing !== undefined && cgroup === "/kube") return Promise.reject(failures.existing);
        written.push(cgroup);
        return Promise.resolve();
      },
    },
    events: { node: ({ type, reason, message }) => events.push(`${type} ${reason}: ${message}`) },
    clock,
    log: keptLog().log,
    enforcement,
    podsCgroup,
  });
  return { clock, events, written, failures, enforcer };
}

test("limits are written and reported once", async () => {
  const { clock, events, written, enforcer } = build();
  enforcer.startPods();
  await enforcer.enforceReserved();
  await settle();
  assert.deepEqual(written.toSorted(), ["/kube", "/system", "pods 1024"]);
  assert.deepEqual(events.toSorted(), [
    "Normal NodeAllocatableEnforced: Updated Node Allocatable limit across pods",
    "Normal NodeAllocatableEnforced: Updated limits on kube reserved cgroup /kube",
    "Normal NodeAllocatableEnforced: Updated limits on system reserved cgroup /system",
  ]);
  assert.equal(clock.pending, 0);
  await enforcer.stop();
});

test("pods that use more than the limit: reported, and tried again every minute until they do not", async () => {
  const { clock, events, written, failures, enforcer } = build();
  failures.pods = new Error("EBUSY: resource busy");
  enforcer.startPods();
  await settle();
  const failed =
    'Warning FailedNodeAllocatableEnforcement: Failed to update Node Allocatable Limits ["x" "kubepods"]: EBUSY: resource busy';
  assert.deepEqual(events, [failed]);
  clock.step(60_000);
  await settle();
  assert.deepEqual(events, [failed, failed]);
  delete failures.pods;
  clock.step(60_000);
  await settle();
  assert.deepEqual(written, ["pods 1024"]);
  clock.step(120_000);
  await settle();
  assert.equal(events.length, 3);
  await enforcer.stop();
});

test("a stop ends the wait for the next try", async () => {
  const { clock, failures, enforcer } = build();
  failures.pods = new Error("EBUSY");
  enforcer.startPods();
  await settle();
  await enforcer.stop();
  assert.equal(clock.pending, 0);
});

test("a missing reserved cgroup is an event, and an error that names it", async () => {
  const { events, failures, enforcer } = build();
  failures.existing = cgroupMissingError("/kube", ["/sys/fs/cgroup/memory/kube"]);
  await assert.rejects(enforcer.enforceReserved(), {
    name: "OperatorError",
    message: /Failed to enforce Kube Reserved Compressible Cgroup Limits on "\/kube": .*memory\/kube/,
  });
  assert.match(events.at(-1) ?? "", /^Warning FailedNodeAllocatableEnforcement: Failed to enforce Kube Reserved Compr/);
});

test("the root of all cgroups has no limits to write", async () => {
  const { events, written, enforcer } = build([]);
  enforcer.startPods();
  await settle();
  assert.deepEqual([events, written], [[], []]);
  await enforcer.stop();
});
