// Metrics of the kubelet's cgroup operations, under upstream's names. Main thread only.

import type { ThreadRegistry } from "../../../shared/telemetry/metrics/thread-registry.js";

export type CgroupOperation = "create" | "update" | "destroy";

/** Shown at zero until memory is reserved (gate MemoryQoS), as upstream. */
export function reservedMemoryMetrics(registry: ThreadRegistry): (minBytes: bigint, lowBytes: bigint) => void {
  const min = registry.gauge(
    "kubelet_memory_qos_node_memory_min_bytes",
    "Total cgroup v2 memory.min in bytes for Guaranteed pods. This memory is hard-reserved and never reclaimed by the kernel",
  );
  const low = registry.gauge(
    "kubelet_memory_qos_node_memory_low_bytes",
    "Total cgroup v2 memory.low in bytes for Burstable pods. This memory is soft-reserved and may be reclaimed under extreme pressure",
  );
  return (minBytes, lowBytes) => {
    min.set(Number(minBytes));
    low.set(Number(lowBytes));
  };
}

/** Returns what records one operation, in milliseconds. */
export function cgroupMetrics(registry: ThreadRegistry): (operation: CgroupOperation, durationMs: number) => void {
  const duration = registry.histogram(
    "kubelet_cgroup_manager_duration_seconds",
    "Duration in seconds for cgroup manager operations, by method",
    ["operation_type"],
  );
  return (operation, ms) => duration.observe({ operation_type: operation }, ms / 1000);
}
