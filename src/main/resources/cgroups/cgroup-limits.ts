// Values of a pod's own cgroup and of the QoS tiers. A limit is set on the pod only if nothing inside may run without one.
import type { Pod } from "../../../shared/api/pod.js";
import { milliValue, value } from "../../../shared/api/quantity.js";
import { MIN_SHARES, milliCpuToQuota, milliCpuToShares, QUOTA_PERIOD_US, UNLIMITED_QUOTA } from "../cpu.js";
import type { CgroupLimits } from "./cgroup-tree.js";
import { hugePagesAsked, hugePageSizeName } from "../page-sizes.js";
import { reservedMemory } from "../memory-values.js";
import { isPositive, podLimits, podRequests, sumOf } from "../pod-requests.js";
import { qosClass } from "../qos.js";
import type { QOSClass } from "../../../shared/api/pod-status.js";

export interface PodCgroupOptions {
  cpuCFSQuota: boolean;
  /** Processes per pod; 0 or below leaves the pod without a limit. */
  podPidsLimit: bigint;
  hugePageSizes: readonly bigint[];
  /** CFS period, microseconds; 100 ms when absent. */
  cpuPeriodUs?: bigint;
  /** Requests are kept from reclaim (MemoryQoS with TieredReservation). */
  reserveMemory?: boolean;
}

/** @throws InvalidQuantityError */
export function podCgroupLimits(pod: Pod, options: PodCgroupOptions): CgroupLimits {
  const qos = qosClass(pod);
  const requests = podRequests(pod);
  const limits = podLimits(pod);
  const result: CgroupLimits = {
    cpuShares: qos === "BestEffort" ? MIN_SHARES : milliCpuToShares(milliValue(sumOf(requests, "cpu"))),
  };
  if (qos === "Guaranteed" || (qos === "Burstable" && everyoneLimits(pod, "cpu"))) {
    const { cpuPeriodUs = QUOTA_PERIOD_US } = options;
    result.cpuPeriodUs = cpuPeriodUs;
    result.cpuQuotaUs = options.cpuCFSQuota
      ? milliCpuToQuota(milliValue(sumOf(limits, "cpu")), cpuPeriodUs)
      : UNLIMITED_QUOTA;
  }
  if (qos === "Guaranteed" || (qos === "Burstable" && everyoneLimits(pod, "memory"))) {
    result.memoryBytes = value(sumOf(limits, "memory"));
  }
  if (options.reserveMemory === true) {
    const { min, low } = reservedMemory(qos, value(sumOf(requests, "memory")));
    result.memoryMinBytes = min;
    result.memoryLowBytes = low;
  }
  if (options.podPidsLimit > 0n) result.pids = options.podPidsLimit;
  const asked = hugePagesAsked(requests);
  const sizes = options.hugePageSizes.map((size) => [hugePageSizeName(size), asked.get(size) ?? 0n] as const);
  if (sizes.length > 0) result.hugePages = new Map(sizes);
  return result;
}

function everyoneLimits(pod: Pod, name: "cpu" | "memory"): boolean {
  if (isPositive(pod.spec.resources?.limits, name)) return true;
  const containers = [...pod.spec.containers, ...(pod.spec.initContainers ?? [])];
  return containers.every((container) => isPositive(container.resources?.limits, name));
}

// Values of the QoS tiers, computed from the running pods. They are the CPU weight of each tier, and the memory that is kept for the tiers
// above it. Pure. Source: https://kubernetes.io/docs/concepts/workloads/pods/pod-qos/

export interface TierOptions {
  hugePageSizes: readonly bigint[];
  /** qosReserved memory, with its gate: percent of the requests of higher classes that lower ones can't have. */
  reserved?: { percent: number; allocatableBytes: bigint };
  /** Requests are kept from reclaim (MemoryQoS with TieredReservation). */
  reserveMemory?: boolean;
}

/** By the class whose pods live there; Guaranteed: kubepods itself, of which all other limits are the node's. */
export type TierLimits = Readonly<Record<QOSClass, CgroupLimits>>;

export function tierLimits(pods: readonly Pod[], options: TierOptions): TierLimits {
  const memory: Record<QOSClass, bigint> = { Guaranteed: 0n, Burstable: 0n, BestEffort: 0n };
  let milliCpu = 0n;
  for (const pod of pods) {
    const qos = qosClass(pod);
    const requests = podRequests(pod);
    memory[qos] += value(sumOf(requests, "memory"));
    if (qos === "Burstable") milliCpu += milliValue(sumOf(requests, "cpu"));
  }
  // Huge pages are limited in the cgroup of the pod.
  const hugePages = new Map(options.hugePageSizes.map((size) => [hugePageSizeName(size), -1n] as const));
  const common: CgroupLimits = hugePages.size > 0 ? { hugePages } : {};
  const tiers: Record<QOSClass, CgroupLimits> = {
    Guaranteed: {},
    Burstable: { ...common, cpuShares: milliCpuToShares(milliCpu) },
    BestEffort: { ...common, cpuShares: MIN_SHARES },
  };
  // A tier protects no more than the tiers above it: kubepods protects the memory of both classes below it.
  if (options.reserveMemory === true) {
    Object.assign(tiers.Guaranteed, { memoryMinBytes: memory.Guaranteed, memoryLowBytes: memory.Burstable });
    tiers.Burstable.memoryLowBytes = memory.Burstable;
  }
  const { reserved } = options;
  if (reserved !== undefined && reserved.allocatableBytes > 0n) {
    const percent = BigInt(reserved.percent);
    const burstable = reserved.allocatableBytes - (memory.Guaranteed * percent) / 100n;
    const bestEffort = burstable - (memory.Burstable * percent) / 100n;
    tiers.Burstable.memoryBytes = atLeastZero(burstable);
    tiers.BestEffort.memoryBytes = atLeastZero(bestEffort);
  }
  return tiers;
}

function atLeastZero(bytes: bigint): bigint {
  return bytes > 0n ? bytes : 0n;
}
