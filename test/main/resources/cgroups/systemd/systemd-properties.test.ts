import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { CgroupLimits } from "../../../../../src/main/resources/cgroups/cgroup-values.js";
import {
  accountingProperties,
  limitProperties,
  slicePropertiesAtStart,
} from "../../../../../src/main/resources/cgroups/systemd/systemd-properties.js";

const NO_LIMIT = (1n << 64n) - 1n;

const shown = (limits: CgroupLimits, version: 1 | 2): string =>
  limitProperties(limits, version)
    .map(([name, type, value]) => `${name}:${type}=${value === NO_LIMIT ? "infinity" : String(value)}`)
    .join(" ");

const ROWS: readonly [title: string, limits: CgroupLimits, v2: string, v1: string][] = [
  ["nothing", {}, "", ""],
  ["memory", { memoryBytes: 10_000_000n }, "MemoryMax:t=10000000", "MemoryLimit:t=10000000"],
  ["memory lifted", { memoryBytes: -1n }, "MemoryMax:t=infinity", "MemoryLimit:t=infinity"],
  ["half a CPU asked for", { cpuShares: 512n }, "CPUWeight:t=20", "CPUShares:t=512"],
  ["the least share", { cpuShares: 2n }, "CPUWeight:t=1", "CPUShares:t=2"],
  ["the largest share", { cpuShares: 262_144n }, "CPUWeight:t=10000", "CPUShares:t=262144"],
  ...both("half a CPU at most", { cpuQuotaUs: 50_000n, cpuPeriodUs: 100_000n }, "CPUQuotaPerSecUSec:t=500000"),
  ...both("two CPUs, period unsaid", { cpuQuotaUs: 200_000n }, "CPUQuotaPerSecUSec:t=2000000"),
  ...both("12.5 percent becomes 13", { cpuQuotaUs: 12_500n, cpuPeriodUs: 100_000n }, "CPUQuotaPerSecUSec:t=130000"),
  ...both(
    "another period",
    { cpuQuotaUs: 5_000n, cpuPeriodUs: 10_000n },
    "CPUQuotaPerSecUSec:t=500000 CPUQuotaPeriodUSec:t=10000",
  ),
  ...both(
    "a third of a period",
    { cpuQuotaUs: 1_000n, cpuPeriodUs: 3_000n },
    "CPUQuotaPerSecUSec:t=340000 CPUQuotaPeriodUSec:t=3000",
  ),
  ...both("quota lifted", { cpuQuotaUs: -1n, cpuPeriodUs: 100_000n }, "CPUQuotaPerSecUSec:t=infinity"),
  ...both("quota unset", { cpuQuotaUs: 0n, cpuPeriodUs: 100_000n }, ""),
  ...both("processes", { pids: 64n }, "TasksMax:t=64"),
  ...both("processes lifted", { pids: -1n }, "TasksMax:t=infinity"),
  ...both("huge pages have no property", { hugePages: new Map([["2MB", 0n]]) }, ""),
];

function both(title: string, limits: CgroupLimits, text: string): [string, CgroupLimits, string, string][] {
  return [[title, limits, text, text]];
}

for (const [title, limits, v2, v1] of ROWS) {
  test(`properties: ${title}`, () => {
    assert.equal(shown(limits, 2), v2);
    assert.equal(shown(limits, 1), v1);
  });
}

test("a slice is accounted by every controller and outlives the shutdown target's conflicts", () => {
  const named = (version: 1 | 2): string[] =>
    accountingProperties(version).map(([name, , value]) => `${name}=${String(value)}`);
  assert.deepEqual(named(2), [
    "CPUAccounting=true",
    "MemoryAccounting=true",
    "TasksAccounting=true",
    "IOAccounting=true",
  ]);
  assert.deepEqual(named(1).at(-1), "BlockIOAccounting=true");
  assert.deepEqual(slicePropertiesAtStart("d"), [
    ["Description", "s", "d"],
    ["DefaultDependencies", "b", false],
  ]);
});

test("systemd's quota is never below the exact one, and less than a percent above it", () => {
  fc.assert(
    fc.property(fc.bigInt(1000n, 10_000_000n), fc.bigInt(1000n, 1_000_000n), (cpuQuotaUs, cpuPeriodUs) => {
      const perSecond = limitProperties({ cpuQuotaUs, cpuPeriodUs }, 2)[0]?.[2];
      assert.ok(typeof perSecond === "bigint");
      const over = perSecond * cpuPeriodUs - cpuQuotaUs * 1_000_000n;
      assert.ok(over >= 0n && over < 10_000n * cpuPeriodUs + cpuPeriodUs);
      assert.equal(perSecond % 10_000n, 0n);
    }),
  );
});
