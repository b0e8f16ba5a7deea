// Capacity and usage of the volumes of claims, under upstream's metric names. Main thread only.

import type { ThreadRegistry } from "../../../shared/telemetry/metrics/thread-registry.js";

const LABELS = ["namespace", "persistentvolumeclaim"] as const;

export interface ClaimFigures {
  namespace: string;
  claim: string;
  capacityBytes?: number | undefined;
  availableBytes?: number | undefined;
  usedBytes?: number | undefined;
  inodes?: number | undefined;
  inodesFree?: number | undefined;
  inodesUsed?: number | undefined;
  /** 1 or 0; gate CSIVolumeHealth. */
  abnormal?: number | undefined;
}

export interface VolumeStatsMetrics {
  /** Duration of one measurement, by the source of its figures. */
  collected(source: string, durationMs: number): void;
}

export function volumeStatsMetrics(
  registry: ThreadRegistry,
  figures: () => readonly ClaimFigures[],
): VolumeStatsMetrics {
  const gauge = (name: string, help: string) => registry.gauge(`kubelet_volume_stats_${name}`, help, LABELS);
  const gauges = {
    capacityBytes: gauge("capacity_bytes", "Capacity in bytes of the volume"),
    availableBytes: gauge("available_bytes", "Number of available bytes in the volume"),
    usedBytes: gauge("used_bytes", "Number of used bytes in the volume"),
    inodes: gauge("inodes", "Maximum number of inodes in the volume"),
    inodesFree: gauge("inodes_free", "Number of free inodes in the volume"),
    inodesUsed: gauge("inodes_used", "Number of used inodes in the volume"),
    abnormal: gauge("health_status_abnormal", "Abnormal volume health status: 1 or 0"),
  };
  const seconds = registry.histogram(
    "kubelet_volume_metric_collection_duration_seconds",
    "Duration in seconds to calculate volume stats",
    ["metric_source"],
  );
  registry.onSnapshot(() => {
    for (const one of Object.values(gauges)) one.reset();
    for (const { namespace, claim: persistentvolumeclaim, ...values } of figures()) {
      for (const name of Object.keys(gauges) as (keyof typeof gauges)[]) {
        const value = values[name];
        if (value !== undefined) gauges[name].set({ namespace, persistentvolumeclaim }, value);
      }
    }
  });
  return { collected: (metric_source, durationMs) => seconds.observe({ metric_source }, durationMs / 1000) };
}
