// The QoS class of a pod. Only cpu and memory above zero count; init containers of every kind count, ephemeral ones do
// not. It decides the pod's place in the cgroup tree, so it must never change while the pod exists.

import { perSpec } from "./per-spec.js";
import { hasPodLevelResources, isPositive } from "./pod-requests.js";
import type { QOSClass } from "./pod-status.js";
import type { Pod, ResourceList, ResourceRequirements } from "./pod.js";
import { parseQuantity } from "./quantity.js";

const COUNTED = ["cpu", "memory"] as const;

/** @throws InvalidQuantityError for a quantity that cannot be read. */
export function qosClass(pod: Pick<Pod, "spec">): QOSClass {
  return qosOf(pod.spec);
}

const qosOf = perSpec((spec): QOSClass => {
  const parts = hasPodLevelResources({ spec })
    ? [spec.resources]
    : [...spec.containers, ...(spec.initContainers ?? [])].map((container) => container.resources);
  const requests = total(parts.map((part) => part?.requests));
  const limits = total(parts.map((part) => part?.limits));
  if (requests.size === 0 && limits.size === 0) return "BestEffort";
  return parts.every(hasBothLimits) && same(requests, limits) ? "Guaranteed" : "Burstable";
});

function hasBothLimits(part: ResourceRequirements | undefined): boolean {
  return COUNTED.every((name) => isPositive(part?.limits, name));
}

function total(lists: (ResourceList | undefined)[]): Map<string, bigint> {
  const sums = new Map<string, bigint>();
  for (const list of lists) {
    for (const name of COUNTED) {
      const nanos = parseQuantity(list?.[name] ?? 0).nanos;
      if (nanos > 0n) sums.set(name, (sums.get(name) ?? 0n) + nanos);
    }
  }
  return sums;
}

function same(a: Map<string, bigint>, b: Map<string, bigint>): boolean {
  return a.size === b.size && [...a].every(([name, nanos]) => b.get(name) === nanos);
}
