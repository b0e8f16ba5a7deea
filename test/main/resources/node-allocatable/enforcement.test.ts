// enforceNodeAllocatable as a table: which cgroup gets which values.

import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { enforcementOf } from "../../../../src/main/resources/node-allocatable/enforcement.js";
import { pidCapacity } from "../../../../src/main/resources/node-allocatable/pid-capacity.js";
import {
  checkReserved,
  reservedOf,
  type ReservedSettings,
} from "../../../../src/main/resources/node-allocatable/reserved.js";
import { evictionReserve, nodeCapacity } from "../../../../src/main/resources/node-capacity.js";

const MIB = 1024n ** 2n;
const capacity = nodeCapacity({
  cpuCount: 4,
  memoryBytes: 1000n * MIB,
  storageBytes: 1000n * MIB,
  maxPods: 110,
  hugePages: new Map([[2n * MIB, 64n * MIB]]),
});
const reservedSettings: ReservedSettings = {
  kubeReserved: { cpu: "500m", memory: "100Mi", pid: "1000" },
  systemReserved: { cpu: "250m", memory: "50Mi", "ephemeral-storage": "1Mi" },
  reservedSystemCPUs: "",
};
const settings = {
  enforceNodeAllocatable: ["pods"],
  cgroupsPerQOS: true,
  systemReservedCgroup: "/system",
  kubeReservedCgroup: "/kube",
  memoryQos: false,
};
const of = (change: Partial<typeof settings> = {}, reserved: Partial<typeof reservedSettings> = {}) =>
  enforcementOf(capacity, 30_000n, reservedOf({ ...reservedSettings, ...reserved }), { ...settings, ...change });
const hugePages = new Map([["2MB", 64n * MIB]]);

test("kubepods gets the capacity without reserved amounts; thresholds and huge pages are not subtracted", () => {
  assert.deepEqual(of(), {
    pods: { cpuShares: 3328n, memoryBytes: 850n * MIB, pids: 29_000n, hugePages },
    reserved: [],
  });
});

test("kubepods gets all of the node where nothing is enforced, as shares are low by default", () => {
  const whole = { cpuShares: 4096n, memoryBytes: 1000n * MIB, pids: 30_000n, hugePages };
  assert.deepEqual(of({ enforceNodeAllocatable: ["none"] }).pods, whole);
  assert.deepEqual(of({ enforceNodeAllocatable: [] }).pods, whole);
  assert.deepEqual(of({ cgroupsPerQOS: false }).pods, whole);
});

test("reserved cgroups get their amounts, the compressible variants CPU alone", () => {
  assert.deepEqual(of({ enforceNodeAllocatable: ["pods", "system-reserved", "kube-reserved"] }).reserved, [
    { part: "System", compressible: false, cgroup: "/system", limits: { cpuShares: 256n, memoryBytes: 50n * MIB } },
    {
      part: "Kube",
      compressible: false,
      cgroup: "/kube",
      limits: { cpuShares: 512n, memoryBytes: 100n * MIB, pids: 1000n },
    },
  ]);
  const compressible = ["system-reserved-compressible", "kube-reserved-compressible"];
  assert.deepEqual(
    of({ enforceNodeAllocatable: compressible }).reserved.map(({ limits }) => limits),
    [{ cpuShares: 256n }, { cpuShares: 512n }],
  );
  const [kept] = of({ enforceNodeAllocatable: ["system-reserved"], memoryQos: true }).reserved;
  assert.equal(kept?.limits.memoryMinBytes, 50n * MIB);
  const [bare] = of({ enforceNodeAllocatable: ["system-reserved"] }, { systemReserved: {} }).reserved;
  assert.deepEqual(bare?.limits, {}, "what is not named is not limited");
});

test("a list of CPUs takes the place of both amounts", () => {
  assert.equal(of({}, { reservedSystemCPUs: "0-2" }).pods.cpuShares, 1024n);
});

test("nothing is ever below zero", () => {
  const { pods } = of({}, { kubeReserved: { cpu: "8", memory: "2Gi", pid: "50000" } });
  assert.deepEqual([pods.cpuShares, pods.memoryBytes, pods.pids], [2n, 0n, 0n]);
});

test("more set aside than there is, thresholds included, is refused with every resource named", () => {
  const check = (memory: string, cpu: string, threshold: bigint): void => {
    const reserved = reservedOf({ kubeReserved: { memory, cpu }, systemReserved: {}, reservedSystemCPUs: "" });
    checkReserved(capacity, reserved, (name, nanos) =>
      evictionReserve(name, nanos, [
        { signal: "memory.available", hard: true, value: { kind: "quantity", units: threshold }, graceMs: 0 },
      ] as unknown as Parameters<typeof evictionReserve>[2]),
    );
  };
  check("900Mi", "4", 100n * MIB);
  assert.throws(
    () => check("901Mi", "4", 100n * MIB),
    (error) =>
      error instanceof Error &&
      error.name === "OperatorError" &&
      error.message.includes(
        'resource "memory" has a reservation of 1001Mi but capacity of 1000Mi. Expected capacity >= reservation.',
      ) &&
      !error.message.includes('"cpu"'),
  );
  assert.throws(() => check("2Gi", "5", 0n), /"cpu" has a reservation of 5 but capacity of 4.*"memory"/);
});

test("a percentage of a threshold sets aside the amount at which upstream evicts", () => {
  const thresholds = [
    { signal: "nodefs.available", hard: true, value: { kind: "percent", percent: 10 }, graceMs: 0 },
  ] as const;
  // 0.1 in single precision is a little more.
  assert.equal(evictionReserve("ephemeral-storage", 10n ** 11n * 10n ** 9n, thresholds), 10_000_000_149n * 10n ** 9n);
});

test("the fewest processes that either of the kernel's limits allows", async () => {
  const folder = await mkdtemp(join(tmpdir(), "nodelet-pids-"));
  try {
    assert.equal(await pidCapacity(folder), 32_768n);
    await writeFile(join(folder, "pid_max"), "4194304\n");
    assert.equal(await pidCapacity(folder), 4_194_304n);
    await writeFile(join(folder, "threads-max"), "31000\n");
    assert.equal(await pidCapacity(folder), 31_000n);
  } finally {
    await rm(folder, { recursive: true });
  }
});
