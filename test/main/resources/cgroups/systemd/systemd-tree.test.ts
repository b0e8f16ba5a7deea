// The manager with the systemd driver: what it asks of systemd, what it writes itself, and what it leaves alone.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import {
  createCgroupManager,
  type CgroupManager,
  type CgroupManagerOptions,
} from "../../../../../src/main/resources/cgroups/cgroup-manager.js";
import { systemdUnits, type SystemdUnits } from "../../../../../src/main/resources/cgroups/systemd/systemd-units.js";
import { systemClock } from "../../../../../src/shared/base/clock/clock.js";
import { OperatorError } from "../../../../../src/shared/base/errors/operator-error.js";
import { podUid } from "../../../../../src/shared/kubernetes/identifiers.js";
import { FakeSlices } from "../../../../support/fake-slices.js";
import { silentLog } from "../../../../support/silent.js";
import { container, pod } from "../../pods.js";

const log = silentLog;
const BURSTABLE = "kubepods-burstable.slice";
const POD = "kubepods-burstable-poda_1.slice";
const subject = pod([container("a", { cpu: "100m" }, { cpu: "125m", memory: "10000000" })], {}, "a-1");

let folder: string;
let slices: FakeSlices;
let units: SystemdUnits;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "nodelet-slices-"));
  slices = new FakeSlices(folder);
  await slices.open();
  units = systemdUnits({ clock: systemClock, log, socketPath: slices.systemd.socketPath });
});
afterEach(async () => {
  units.close();
  await slices.systemd.die();
  await rm(folder, { recursive: true });
});

/** Each one is a kubelet that has just started. */
function manager(change: Partial<CgroupManagerOptions> = {}): CgroupManager {
  return createCgroupManager({
    pageSize: 4096n,
    cgroupRoot: "/",
    driver: "systemd",
    systemd: units,
    cgroupsPerQOS: true,
    podPidsLimit: 64n,
    cpuCFSQuota: true,
    hugePageSizes: [2n << 20n],
    mounts: { version: 2, mountPoint: slices.root },
    log,
    clock: systemClock,
    ...change,
  });
}

/** Calls to systemd made meanwhile. */
async function callsDuring(action: () => Promise<unknown>): Promise<string[]> {
  const before = slices.systemd.calls.length;
  await action();
  return slices.systemd.calls.slice(before);
}

test("set-up starts the tiers from the top, once", async () => {
  const cgroups = manager();
  assert.deepEqual(await callsDuring(() => cgroups.setUp()), [
    "StartTransientUnit kubepods.slice",
    "StartTransientUnit kubepods-besteffort.slice",
    "StartTransientUnit kubepods-burstable.slice",
  ]);
  assert.equal(await slices.read("kubepods-besteffort.slice", "cpu.weight"), "1");
  const kubepods = slices.systemd.units.get("kubepods.slice")?.properties;
  for (const name of ["CPUAccounting", "MemoryAccounting", "TasksAccounting", "IOAccounting"]) {
    assert.equal(kubepods?.get(name), true, name);
  }
  assert.equal(kubepods?.get("DefaultDependencies"), false);
  assert.deepEqual(await callsDuring(() => cgroups.setUp()), []);
});

test("a pod's slice: values in systemd, exact and further ones in the files, names for runtime and watcher", async () => {
  const cgroups = manager();
  await cgroups.setUp();
  const made = await cgroups.ensurePod(subject);
  assert.deepEqual(made, { criParent: POD, watchDirs: [slices.directory(POD)] });
  const properties = slices.systemd.units.get(POD)?.properties;
  assert.equal(properties?.get("MemoryMax"), "10000000");
  assert.equal(properties.get("CPUWeight"), "4");
  assert.equal(properties.get("CPUQuotaPerSecUSec"), "130000", "whole percents");
  assert.equal(properties.get("TasksMax"), "64");
  assert.equal(await slices.read(POD, "cpu.max"), "12500 100000");
  assert.equal(await slices.read(POD, "hugetlb.2MB.max"), "0");
});

test("a slice that is right costs nothing; after a restart one question each", async () => {
  const cgroups = manager();
  await cgroups.setUp();
  await cgroups.ensurePod(subject);
  assert.deepEqual(await callsDuring(() => cgroups.ensurePod(subject)), []);
  const restarted = manager();
  assert.deepEqual(await callsDuring(() => restarted.setUp()), [
    "GetUnit kubepods.slice",
    "GetUnit kubepods-besteffort.slice",
    "GetUnit kubepods-burstable.slice",
  ]);
  assert.deepEqual(await callsDuring(() => restarted.ensurePod(subject)), [`GetUnit ${POD}`]);
  assert.deepEqual(await restarted.listPods(), ["a-1"]);
  assert.ok(await restarted.podExists(podUid("a-1")));
});

test("values changed behind the kubelet's back are set again, in systemd too", async () => {
  await manager().setUp();
  await manager().ensurePod(subject);
  await writeFile(join(slices.directory(POD), "memory.max"), "max");
  const calls = await callsDuring(() => manager().ensurePod(subject));
  assert.deepEqual(calls, [`StartTransientUnit ${POD}`, `SetUnitProperties ${POD}`, `StartUnit ${POD}`]);
  assert.equal(await slices.read(POD, "memory.max"), "10000000");
});

test("a directory without a unit becomes a unit", async () => {
  await manager().setUp();
  await manager().ensurePod(subject);
  slices.systemd.units.delete(POD);
  assert.deepEqual(await callsDuring(() => manager().ensurePod(subject)), [
    `GetUnit ${POD}`,
    `StartTransientUnit ${POD}`,
  ]);
});

test("a pod that changes has its properties set on the running unit", async () => {
  const cgroups = manager();
  await cgroups.setUp();
  await cgroups.ensurePod(subject);
  const larger = pod([container("a", { cpu: "100m" }, { cpu: "125m", memory: "20000000" })], {}, "a-1");
  assert.deepEqual(await callsDuring(() => cgroups.ensurePod(larger)), [`SetUnitProperties ${POD}`]);
  assert.equal(await slices.read(POD, "memory.max"), "20000000");
  assert.equal(await slices.read(POD, "cpu.max"), "12500 100000", "exact again after systemd rounded it");
});

test("shares of the burstable tier follow its pods", async () => {
  const cgroups = manager();
  await cgroups.setUp();
  assert.deepEqual(await callsDuring(() => cgroups.updateQos([subject])), [`SetUnitProperties ${BURSTABLE}`]);
  assert.equal(await slices.read(BURSTABLE, "cpu.weight"), "4");
});

test("slices removed behind the kubelet's back are made again, the tier with its values", async () => {
  const cgroups = manager();
  await cgroups.setUp();
  await cgroups.updateQos([subject]);
  await rm(slices.directory(BURSTABLE), { recursive: true });
  slices.systemd.units.delete(BURSTABLE);
  await cgroups.ensurePod(subject);
  assert.equal(await slices.read(BURSTABLE, "cpu.weight"), "4");
  assert.equal(await slices.read(POD, "memory.max"), "10000000");
});

test("removal kills remaining processes before it stops the unit; other tiers cost no call", async () => {
  const cgroups = manager();
  await cgroups.setUp();
  await cgroups.ensurePod(subject);
  const child = spawn("sleep", ["1000"], { stdio: "ignore" });
  await once(child, "spawn");
  const procs = join(slices.directory(POD), "cgroup.procs");
  await writeFile(procs, `${child.pid ?? 0}\n`);
  let killed: unknown;
  const exited = once(child, "exit").then(async ([, signal]) => {
    killed = signal;
    await truncate(procs);
  });
  const stopped = slices.systemd.onStopped;
  slices.systemd.onStopped = (unit) => {
    assert.equal(killed, "SIGKILL");
    return stopped(unit);
  };
  assert.deepEqual(await callsDuring(() => cgroups.removePod(podUid("a-1"))), [`StopUnit ${POD}`]);
  await exited;
  assert.ok(!existsSync(slices.directory(POD)));
  assert.ok(!(await cgroups.podExists(podUid("a-1"))));
  assert.deepEqual(await callsDuring(() => cgroups.removePod(podUid("a-1"))), []);
});

test("a slice the kubelet did not make itself is removed too, and one that systemd has forgotten", async () => {
  await manager().setUp();
  await manager().ensurePod(subject);
  await manager().removePod(podUid("a-1"));
  assert.ok(!slices.systemd.units.has(POD));
  await mkdir(slices.directory(POD));
  assert.deepEqual(await manager().listPods(), ["a-1"]);
  await manager().removePod(podUid("a-1"));
  assert.ok(!existsSync(slices.directory(POD)));
});

test("a job that fails is the caller's error; the next try makes the slice", async () => {
  const cgroups = manager();
  await cgroups.setUp();
  slices.systemd.plan("StartTransientUnit", { job: "failed" });
  await assert.rejects(cgroups.ensurePod(subject), OperatorError);
  await cgroups.ensurePod(subject);
  assert.ok(slices.systemd.units.get(POD)?.active);
});

for (const cgroupRoot of ["/a/b-c", "a-b_c.slice", "/a.slice/a-b_c.slice"]) {
  test(`cgroupRoot ${cgroupRoot}: slices nest below it, and tear-down takes them away`, async () => {
    const cgroups = manager({ cgroupRoot });
    await cgroups.setUp();
    const { criParent } = await cgroups.ensurePod(subject);
    assert.equal(criParent, "a-b_c-kubepods-burstable-poda_1.slice");
    assert.ok(existsSync(`${slices.root}/a.slice/a-b_c.slice/a-b_c-kubepods.slice`));
    await cgroups.removePod(podUid("a-1"));
    await cgroups.tearDown();
    assert.ok(!existsSync(`${slices.root}/a.slice/a-b_c.slice`));
  });
}

test("limits of all pods and of a slice of the administrator's are properties of units that exist", async () => {
  const cgroups = manager();
  await cgroups.setUp();
  const limits = { cpuShares: 512n, memoryBytes: 20_000_000n };
  assert.deepEqual(await callsDuring(() => cgroups.limitPods(limits)), ["SetUnitProperties kubepods.slice"]);
  assert.equal(slices.systemd.units.get("kubepods.slice")?.properties.get("MemoryMax"), "20000000");
  assert.equal(await slices.read("kubepods.slice", "cpu.weight"), "20");
  assert.deepEqual(await callsDuring(() => cgroups.limitPods(limits)), [], "right already");

  await assert.rejects(cgroups.limitExisting("/kube-reserved.slice", { cpuShares: 512n }), OperatorError);
  await units.start("system.slice", [], []);
  const called = await callsDuring(() => cgroups.limitExisting("/system", { cpuShares: 512n }));
  assert.deepEqual(called, ["SetUnitProperties system.slice"], "the suffix may be left out; nothing is started");
  assert.equal(await slices.read("system.slice", "cpu.weight"), "20");
});
