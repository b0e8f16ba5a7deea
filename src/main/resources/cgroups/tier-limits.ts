// Values of the QoS tiers, computed from the running pods. They are the CPU weight of each tier, and the memory that is
// kept for the tiers above it. Pure. Source: https://kubernetes.io/docs/concepts/workloads/pods/pod-qos/

import { podRequests, sumOf } from "../../../shared/kubernetes/api/pod-requests.js";
import type { QOSClass } from "../../../shared/kubernetes/api/pod-status.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import { qosClass } from "../../../shared/kubernetes/api/qos.js";
import { value, milliValue } from "../../../shared/kubernetes/api/quantity.js";
import { milliCpuToShares, MIN_SHARES } from "../cpu.js";
import { hugePageSizeName } from "../page-sizes.js";
import type { CgroupLimits } from "./cgroup-values.js";

export interface TierOptions {
  hugePageSizes: readonly bigint[];
  /** qosReserved memory, with its gate: percent of the requests of higher classes that lower ones can't have. */
  reserved?: { percent: number; allocatableBytes: bigint } | undefined;
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
