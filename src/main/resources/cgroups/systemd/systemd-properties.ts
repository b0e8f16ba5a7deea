// CgroupLimits as properties of a slice. Where systemd rounds (quotas go up to whole percents of a CPU) or has no
// property (huge pages), the exact value is written to the cgroup's file afterwards.

import { QUOTA_PERIOD_US, sharesToWeight } from "../../cpu.js";
import type { CgroupLimits } from "../cgroup-values.js";

/** Name, D-Bus type of the value, value. 64-bit numbers travel as bigints. */
export type UnitProperty =
  | readonly [name: string, type: "s", value: string]
  | readonly [name: string, type: "b", value: boolean]
  | readonly [name: string, type: "t", value: bigint];

/** systemd's "infinity". */
const NO_LIMIT = (1n << 64n) - 1n;
const SECOND_US = 1_000_000n;
/** One percent of a CPU in a second: systemd keeps quotas in whole percents. */
const PERCENT_US = SECOND_US / 100n;

/** Properties that only a new unit accepts: all others can be set at any time. */
export function slicePropertiesAtStart(description: string): UnitProperty[] {
  // Without it, slices conflict with shutdown.target and would be stopped early, under running containers. Slices take
  // no Delegate; the scopes below them, made by the runtime, do.
  return [
    ["Description", "s", description],
    ["DefaultDependencies", "b", false],
  ];
}

/** Makes systemd create the cgroup with these controllers. */
export function accountingProperties(version: 1 | 2): UnitProperty[] {
  const io = version === 2 ? "IOAccounting" : "BlockIOAccounting";
  return ["CPUAccounting", "MemoryAccounting", "TasksAccounting", io].map((name) => [name, "b", true]);
}

/** An absent limit yields no property: the unit's value stays. */
export function limitProperties(limits: CgroupLimits, version: 1 | 2): UnitProperty[] {
  const properties: UnitProperty[] = [];
  const { memoryBytes, memoryMinBytes, memoryLowBytes, cpuShares, cpuQuotaUs, pids } = limits;
  if (memoryBytes !== undefined) {
    properties.push([version === 2 ? "MemoryMax" : "MemoryLimit", "t", orNoLimit(memoryBytes)]);
  }
  if (version === 2 && memoryMinBytes !== undefined) properties.push(["MemoryMin", "t", memoryMinBytes]);
  if (version === 2 && memoryLowBytes !== undefined) properties.push(["MemoryLow", "t", memoryLowBytes]);
  if (cpuShares !== undefined) {
    properties.push(version === 2 ? ["CPUWeight", "t", sharesToWeight(cpuShares)] : ["CPUShares", "t", cpuShares]);
  }
  // 0 means unset.
  if (cpuQuotaUs !== undefined && cpuQuotaUs !== 0n) {
    const period = limits.cpuPeriodUs ?? QUOTA_PERIOD_US;
    properties.push(["CPUQuotaPerSecUSec", "t", perSecond(cpuQuotaUs, period)]);
    // systemd's own default is left unsaid: versions before 242 do not know the property.
    if (period !== QUOTA_PERIOD_US) properties.push(["CPUQuotaPeriodUSec", "t", period]);
  }
  if (pids !== undefined) properties.push(["TasksMax", "t", orNoLimit(pids)]);
  return properties;
}

/** Rounded up: a child's exact quota must fit under a parent that systemd wrote in whole percents. */
function perSecond(quotaUs: bigint, periodUs: bigint): bigint {
  if (quotaUs < 0n) return NO_LIMIT;
  const exact = (quotaUs * SECOND_US + periodUs - 1n) / periodUs;
  return ((exact + PERCENT_US - 1n) / PERCENT_US) * PERCENT_US;
}

function orNoLimit(value: bigint): bigint {
  return value < 0n ? NO_LIMIT : value;
}
