// Metrics that stay at zero, because a manager is off or this kubelet never does the counted action. Dashboards and
// alerts expect them. Their values are added to those of other threads.

import type { ThreadRegistry } from "../../../shared/telemetry/metrics/thread-registry.js";

const COUNTERS: Readonly<Record<string, string>> = {
  kubelet_cpu_manager_pinning_requests_total: "The number of cpu core allocations which required pinning",
  kubelet_cpu_manager_pinning_errors_total: "The number of cpu core allocations which required pinning and failed",
  kubelet_memory_manager_pinning_requests_total: "Number of containers that requested memory from the memory manager",
  kubelet_memory_manager_pinning_errors_total:
    "Number of containers for which the memory manager could not allocate memory",
  kubelet_pod_watch_events_dropped_total: "Cumulative number of pod watch events dropped",
  force_cleaned_failed_volume_operations_total:
    "The number of volumes that failed force cleanup after their reconstruction failed; this kubelet does no force cleanup",
  force_cleaned_failed_volume_operation_errors_total:
    "The number of errors in the force cleanup of volumes; this kubelet does no force cleanup",
  hidden_metrics_total: "The count of hidden metrics; this kubelet hides none",
  disabled_metrics_total: "The count of disabled metrics; this kubelet disables none",
};

const GAUGES: Readonly<Record<string, string>> = {
  kubelet_cpu_manager_exclusive_cpu_allocation_count:
    "The total number of CPUs exclusively allocated to containers running on this node",
  kubelet_cpu_manager_shared_pool_size_millicores:
    "The size of the shared CPU pool for non-guaranteed QoS pods, in millicores, without the reserved CPUs",
  kubelet_graceful_shutdown_start_time_seconds: "Last graceful shutdown start time in Unix seconds",
  kubelet_graceful_shutdown_end_time_seconds: "Last graceful shutdown end time in Unix seconds",
  kubelet_orphan_pod_cleaned_volumes:
    "The number of orphaned pods whose volumes were cleaned in the last sweep; this kubelet has no such sweeps",
  kubelet_orphan_pod_cleaned_volumes_errors:
    "The number of orphaned pods whose volumes failed to be cleaned in the last sweep; this kubelet has no such sweeps",
};

/** For one thread's registry. */
export function registerZeroMetrics(registry: ThreadRegistry): void {
  for (const [name, help] of Object.entries(COUNTERS)) registry.counter(name, help);
  const restarted = registry.counter(
    "kubelet_restarted_pods_total",
    "Number of pods that were restarted because they were deleted and recreated with the same UID",
    ["static"],
  );
  for (const label of ["", "true"]) restarted.inc({ static: label }, 0);
  for (const [name, help] of Object.entries(GAUGES)) registry.gauge(name, help).set(0);
}

export function statsProvider(registry: ThreadRegistry, provider: "cri" | "cadvisor"): void {
  registry
    .gauge("kubelet_metrics_provider", "Provider of pod and container stats; the value is always 1", ["provider"])
    .set({ provider }, 1);
}
