// CPU arithmetic between Kubernetes milli-CPU and kernel values. All functions are pure; units are in the names.

export const MIN_SHARES = 2n;
const MAX_SHARES = 262_144n;
const SHARES_PER_CPU = 1024n;
const MILLI_PER_CPU = 1000n;
/** CFS period in microseconds. */
export const QUOTA_PERIOD_US = 100_000n;
/** The kernel refuses a quota below 1 ms. */
const MIN_QUOTA_US = 1000n;
/** No CFS bandwidth limit. */
export const UNLIMITED_QUOTA = -1n;

/** cgroup v1 cpu.shares of a request; 0 yields the minimum, 2. */
export function milliCpuToShares(milliCpu: bigint): bigint {
  const shares = (milliCpu * SHARES_PER_CPU) / MILLI_PER_CPU;
  return shares < MIN_SHARES ? MIN_SHARES : shares > MAX_SHARES ? MAX_SHARES : shares;
}

/** milli-CPU that correspond to these shares, rounded up. */
export function sharesToMilliCpu(shares: bigint): bigint {
  return (shares * MILLI_PER_CPU + SHARES_PER_CPU - 1n) / SHARES_PER_CPU;
}

/** CFS quota in microseconds per `periodUs`; 0 (no limit) stays 0, which means unset. */
export function milliCpuToQuota(milliCpu: bigint, periodUs: bigint = QUOTA_PERIOD_US): bigint {
  if (milliCpu === 0n) return 0n;
  const quota = (milliCpu * periodUs) / MILLI_PER_CPU;
  return quota < MIN_QUOTA_US ? MIN_QUOTA_US : quota;
}

/** cgroup v2 cpu.weight (1..10000) that the kubelet writes on its own cgroups. */
export function sharesToWeight(shares: bigint): bigint {
  if (shares <= MIN_SHARES) return 1n;
  if (shares >= MAX_SHARES) return 10_000n;
  return 1n + ((shares - MIN_SHARES) * 9999n) / 262_142n;
}
