// CgroupLimits as cgroup v2 files.

import { sharesToWeight, QUOTA_PERIOD_US } from "../cpu.js";
import type { CgroupLimits, CgroupWrite } from "./cgroup-values.js";

export function v2Writes(limits: CgroupLimits): CgroupWrite[] {
  const writes: CgroupWrite[] = [];
  const add = (controller: string, file: string, value: string): void => {
    writes.push({ controller, file, value });
  };
  if (limits.cpuShares !== undefined) add("cpu", "cpu.weight", sharesToWeight(limits.cpuShares).toString());
  const quota = limits.cpuQuotaUs;
  if (quota !== undefined && quota !== 0n) {
    add("cpu", "cpu.max", `${orMax(quota)} ${limits.cpuPeriodUs ?? QUOTA_PERIOD_US}`);
  }
  if (limits.memoryBytes !== undefined) add("memory", "memory.max", orMax(limits.memoryBytes));
  if (limits.memoryMinBytes !== undefined) add("memory", "memory.min", limits.memoryMinBytes.toString());
  if (limits.memoryLowBytes !== undefined) add("memory", "memory.low", limits.memoryLowBytes.toString());
  if (limits.pids !== undefined) add("pids", "pids.max", orMax(limits.pids));
  for (const [size, bytes] of limits.hugePages ?? []) {
    add("hugetlb", `hugetlb.${size}.max`, orMax(bytes));
    writes.push({ controller: "hugetlb", file: `hugetlb.${size}.rsvd.max`, value: orMax(bytes), optional: true });
  }
  return writes;
}

const DEFAULTS: Readonly<Record<string, string>> = {
  "cpu.weight": "100",
  "cpu.max": "max 100000",
  "memory.max": "max",
  "memory.min": "0",
  "memory.low": "0",
  "pids.max": "max",
};

export function isKernelDefaultV2(write: CgroupWrite): boolean {
  return DEFAULTS[write.file] === write.value || (write.file.startsWith("hugetlb.") && write.value === "max");
}

/** Byte values are kept in whole pages. */
export function sameValueV2(write: CgroupWrite, current: string | undefined, pageSize: bigint): boolean {
  if (current === undefined || current === write.value) return current !== undefined;
  const bytes = write.file.startsWith("memory.") || write.file.startsWith("hugetlb.");
  if (!bytes || !/^\d+$/.test(current) || !/^\d+$/.test(write.value)) return false;
  return BigInt(write.value) / pageSize === BigInt(current) / pageSize;
}

function orMax(value: bigint): string {
  return value < 0n ? "max" : value.toString();
}
