// CgroupLimits as cgroup v1 files, the values of a new cgroup, and how the kernel shows a written value.

import type { CgroupLimits, CgroupWrite } from "./cgroup-values.js";

const NO_LIMIT = "-1";
/** The kernel shows no limit as its largest number of pages, small or huge. */
const SHOWN_AS_NO_LIMIT = 1n << 62n;

/** In the order to write them: the period before the quota it bounds. */
export function v1Writes(limits: CgroupLimits): CgroupWrite[] {
  const writes: CgroupWrite[] = [];
  const add = (controller: string, file: string, value: bigint | undefined): void => {
    if (value !== undefined) writes.push({ controller, file: `${controller}.${file}`, value: value.toString() });
  };
  add("cpu", "shares", limits.cpuShares);
  add("cpu", "cfs_period_us", limits.cpuPeriodUs);
  // 0 means unset, and the kernel refuses it.
  add("cpu", "cfs_quota_us", limits.cpuQuotaUs === 0n ? undefined : limits.cpuQuotaUs);
  add("memory", "limit_in_bytes", limits.memoryBytes);
  if (limits.pids !== undefined) {
    writes.push({ controller: "pids", file: "pids.max", value: limits.pids < 0n ? "max" : limits.pids.toString() });
  }
  for (const [size, bytes] of limits.hugePages ?? []) {
    add("hugetlb", `${size}.limit_in_bytes`, bytes);
    const file = `hugetlb.${size}.rsvd.limit_in_bytes`;
    writes.push({ controller: "hugetlb", file, value: bytes.toString(), optional: true });
  }
  return writes;
}

const DEFAULTS: Readonly<Record<string, string>> = {
  "cpu.shares": "1024",
  "cpu.cfs_period_us": "100000",
  "cpu.cfs_quota_us": NO_LIMIT,
  "memory.limit_in_bytes": NO_LIMIT,
  "pids.max": "max",
};

/** Would a cgroup made this moment already have the value? */
export function isKernelDefault(write: CgroupWrite): boolean {
  return DEFAULTS[write.file] === write.value || (isBytes(write.file) && write.value === NO_LIMIT);
}

function isBytes(file: string): boolean {
  return file.endsWith("limit_in_bytes");
}

/** Byte values are kept in whole pages. */
export function sameValue(write: CgroupWrite, current: string | undefined, pageSize: bigint): boolean {
  if (current === undefined || current === write.value) return current !== undefined;
  if (!isBytes(write.file) || !/^\d+$/.test(current)) return false;
  if (write.value === NO_LIMIT) return BigInt(current) >= SHOWN_AS_NO_LIMIT;
  if (!/^\d+$/.test(write.value)) return false;
  return BigInt(write.value) / pageSize === BigInt(current) / pageSize;
}
