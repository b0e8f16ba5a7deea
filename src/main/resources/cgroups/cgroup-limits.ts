// Values of a pod's own cgroup and of the QoS tiers. A limit is set on the pod only if nothing inside may run without
// one.

import { isPositive, podLimits, podRequests, sumOf } from "../../../shared/kubernetes/api/pod-requests.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import { qosClass } from "../../../shared/kubernetes/api/qos.js";
import { milliValue, value } from "../../../shared/kubernetes/api/quantity.js";
import { MIN_SHARES, milliCpuToQuota, milliCpuToShares, QUOTA_PERIOD_US, UNLIMITED_QUOTA } from "../cpu.js";
import { reservedMemory } from "../memory-values.js";
import { hugePagesAsked, hugePageSizeName } from "../page-sizes.js";
import type { CgroupLimits } from "./cgroup-values.js";

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
