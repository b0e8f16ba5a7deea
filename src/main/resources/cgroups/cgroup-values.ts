// Values of a cgroup in the kubelet's own terms, the same for both kernel interfaces. An absent field is left alone.

export interface CgroupLimits {
  /** v1 shares, 2..262144; written as a weight on v2. */
  cpuShares?: bigint;
  /** Microseconds per period; -1 lifts the limit. */
  cpuQuotaUs?: bigint;
  cpuPeriodUs?: bigint;
  memoryBytes?: bigint;
  /** Protected from reclaim, always or as far as can be; v2 only. */
  memoryMinBytes?: bigint;
  memoryLowBytes?: bigint;
  /** Processes and threads; -1 lifts the limit. */
  pids?: bigint;
  /** Page size name ("2MB") to bytes, of pages in use and of reservations; -1 lifts the limit. */
  hugePages?: ReadonlyMap<string, bigint>;
}

/** One file to write: the controller it belongs to, its name, and its text. */
export interface CgroupWrite {
  controller: string;
  file: string;
  value: string;
  /** Older kernels do not have the file: limits of huge page reservations came with 5.7. */
  optional?: true;
}
