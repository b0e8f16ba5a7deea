// Ranks pods for eviction. Pure; the order is total and does not depend on the order of the input.

import type { EvictionPod } from "../../shared/contracts/eviction.js";

/** A pod's use of the short resource; undefined: its use is unknown. */
export interface Usage {
  pod: EvictionPod;
  used: number | undefined;
  requested: number;
}

/**
 * For memory and disks. The order is: unknown usage, usage above the request, lower priority, larger excess over the
 * request.
 */
export function rankByUsage(usages: readonly Usage[]): EvictionPod[] {
  const compare = (a: Usage, b: Usage): number => {
    if (a.used === undefined || b.used === undefined) {
      return flag(b.used === undefined) - flag(a.used === undefined) || byPriority(a, b) || byName(a, b);
    }
    return (
      flag(b.used > b.requested) - flag(a.used > a.requested) ||
      byPriority(a, b) ||
      b.used - b.requested - (a.used - a.requested) ||
      byName(a, b)
    );
  };
  return usages.toSorted(compare).map(({ pod }) => pod);
}

/** For process ids, which pods cannot request: lower priority first, then more processes. */
export function rankByProcesses(usages: readonly Pick<Usage, "pod" | "used">[]): EvictionPod[] {
  return usages
    .toSorted((a, b) => byPriority(a, b) || (b.used ?? 0) - (a.used ?? 0) || byName(a, b))
    .map(({ pod }) => pod);
}

const flag = Number;

function byPriority(a: { pod: EvictionPod }, b: { pod: EvictionPod }): number {
  return a.pod.priority - b.pod.priority;
}

/** UIDs differ. */
function byName(a: { pod: EvictionPod }, b: { pod: EvictionPod }): number {
  return a.pod.uid < b.pod.uid ? -1 : a.pod.uid > b.pod.uid ? 1 : 0;
}
