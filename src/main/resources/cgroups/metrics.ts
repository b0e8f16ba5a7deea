// What the kubelet does to cgroups, as upstream counts it. Main thread only.
import type { ThreadRegistry } from "../../../shared/metrics/thread-registry.js";

export type CgroupOperation = "create" | "update" | "destroy";

/** Returns what records one operation, in milliseconds. */
export function cgroupMetrics(registry: ThreadRegistry): (operation: CgroupOperation, durationMs: number) => void {
  const duration = registry.histogram(
    "kubelet_cgroup_manager_duration_seconds",
    "Duration in seconds for cgroup manager operations, by method",
    ["operation_type"],
  );
  return (operation, ms) => duration.observe({ operation_type: operation }, ms / 1000);
}
