// Metrics that stand at zero on this node, and that dashboards and alerts look for: what a manager counts that may be off, and
// what this agent never does. Each is added to what another thread counts of it, as metrics of several threads are.
import type { ThreadRegistry } from "./thread-registry.js";

const COUNTERS: Readonly<Record<string, string>> = {
  kubelet_cpu_manager_pinning_requests_total: "The number of cpu core allocations which required pinning",
  kubelet_cpu_manager_pinning_errors_total: "The number of cpu core allocations which required pinning and failed",
  kubelet_memory_manager_pinning_requests_total: "Containers that asked for memory of certain NUMA nodes",
  kubelet_memory_manager_pinning_errors_total: "Containers that asked for memory of certain NUMA nodes in vain",
  kubelet_pod_watch_events_dropped_total: "Events of pods that were not told to a watcher: none ever is left out",
  force_cleaned_failed_volume_operations_total: "Volumes cleaned by force after a start: none ever is",
  force_cleaned_failed_volume_operation_errors_total: "Volumes that could not be cleaned by force",
  hidden_metrics_total: "Metrics that are hidden: none is",
  disabled_metrics_total: "Metrics that are turned off: none is",
};

const GAUGES: Readonly<Record<string, string>> = {
  kubelet_cpu_manager_exclusive_cpu_allocation_count:
    "The total number of CPUs exclusively allocated to containers running on this node",
  kubelet_cpu_manager_shared_pool_size_millicores:
    "The size of the shared CPU pool for non-guaranteed QoS pods, in millicores, without the reserved CPUs",
  kubelet_graceful_shutdown_start_time_seconds: "Last graceful shutdown start time in Unix seconds",
  kubelet_graceful_shutdown_end_time_seconds: "Last graceful shutdown end time in Unix seconds",
  kubelet_orphan_pod_cleaned_volumes: "Orphaned pods whose volumes a sweep cleaned: there are no sweeps",
  kubelet_orphan_pod_cleaned_volumes_errors: "Orphaned pods whose volumes a sweep could not clean",
};

/** For one thread's registry. */
export function standingMetrics(registry: ThreadRegistry): void {
  for (const [name, help] of Object.entries(COUNTERS)) registry.counter(name, help);
  const restarted = registry.counter(
    "kubelet_restarted_pods_total",
    "Number of pods that were restarted because they were deleted and recreated with the same UID",
    ["static"],
  );
  for (const label of ["", "true"]) restarted.inc({ static: label }, 0);
  for (const [name, help] of Object.entries(GAUGES)) registry.gauge(name, help).set(0);
}
