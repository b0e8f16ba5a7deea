// Figures of claims from main's own metrics: main measures them for kubelet_volume_stats_*, and only main has their
// paths.

import type { FsFigures } from "../../../../shared/node/stats/fs-figures.js";
import type { MetricSnapshot } from "../../../../shared/telemetry/metrics/snapshot.js";

type Member = "capacityBytes" | "availableBytes" | "usedBytes" | "inodes" | "inodesFree" | "inodesUsed" | "abnormal";

const FAMILIES: ReadonlyMap<string, Member> = new Map([
  ["kubelet_volume_stats_capacity_bytes", "capacityBytes"],
  ["kubelet_volume_stats_available_bytes", "availableBytes"],
  ["kubelet_volume_stats_used_bytes", "usedBytes"],
  ["kubelet_volume_stats_inodes", "inodes"],
  ["kubelet_volume_stats_inodes_free", "inodesFree"],
  ["kubelet_volume_stats_inodes_used", "inodesUsed"],
  ["kubelet_volume_stats_health_status_abnormal", "abnormal"],
]);

export type ClaimFigures = FsFigures & { abnormal?: number };

/** By "namespace/claim". */
export function claimFigures(snapshots: readonly MetricSnapshot[], at: number): Map<string, ClaimFigures> {
  const claims = new Map<string, ClaimFigures>();
  for (const { name, samples } of snapshots.flatMap(({ families }) => families)) {
    const member = FAMILIES.get(name);
    if (member === undefined) continue;
    for (const { labels, value } of samples) {
      const key = `${labels["namespace"] ?? ""}/${labels["persistentvolumeclaim"] ?? ""}`;
      claims.set(key, { ...claims.get(key), at, [member]: value });
    }
  }
  return claims;
}
