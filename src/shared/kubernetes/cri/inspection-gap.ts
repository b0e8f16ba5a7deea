// How often a pod with many containers is inspected: an inspection reads all of them.

/** Up to so many containers a pod is inspected after each change. */
const FEW = 64;
/** Between two inspections, for each container of the pod. */
const GAP_MS = 2;
const LONGEST_MS = 5000;

/** Time between two inspections of a pod for which no pass waits, ms. */
export function inspectionGapMs(containers: number): number {
  return containers <= FEW ? 0 : Math.min(containers * GAP_MS, LONGEST_MS);
}
