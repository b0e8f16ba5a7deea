// Metrics that stand at zero on this node, and that dashboards and alerts look for: what a manager counts that may be off, and
// what this agent never does. Each is added to what another thread counts of it, as metrics of several threads are.
import type { ThreadRegistry } from "./thread-registry.js";

const COUNTERS: Readonly<Record<string, string>> = {
  kubelet_cpu_manager_pinning_requests_total: "Containers that asked for CPUs of their own",
  kubelet_cpu_manager_pinning_errors_total: "Containers that asked for CPUs of their own and could not have them",
  kubelet_memory_manager_pinning_requests_total: "Containers that asked for memory of certain NUMA nodes",
  kubelet_memory_manager_pinning_errors_total: "Containers that asked for memory of certain NUMA nodes in vain",
  kubelet_pod_watch_events_dropped_total: "Events of pods that were not told to a watcher: none ever is left out",
  force_cleaned_failed_volume_operations_total: "Volumes cleaned by force after a start: none ever is",
  force_cleaned_failed_volume_operation_errors_total: "Volumes that could not be cleaned by force",
  hidden_metrics_total: "Metrics that are hidden: none is",
  disabled_metrics_total: "Metrics that are turned off: none is",
};

const GAUGES: Readonly<Record<string, string>> = {
  kubelet_cpu_manager_exclusive_cpu_allocation_count: "CPUs that are one container's alone",
  kubelet_cpu_manager_shared_pool_size_millicores:
    "Size of the shared pool without the reserved CPUs, in thousandths of a CPU",
  kubelet_graceful_shutdown_start_time_seconds: "Unix time at which the last graceful shutdown of the node began",
  kubelet_graceful_shutdown_end_time_seconds: "Unix time at which the last graceful shutdown of the node ended",
  kubelet_orphan_pod_cleaned_volumes: "Orphaned pods whose volumes a sweep cleaned: there are no sweeps",
  kubelet_orphan_pod_cleaned_volumes_errors: "Orphaned pods whose volumes a sweep could not clean",
};

/** For one thread's registry. */
export function standingMetrics(registry: ThreadRegistry): void {
  for (const [name, help] of Object.entries(COUNTERS)) registry.counter(name, help);
  const restarted = registry.counter("kubelet_restarted_pods_total", "Pods deleted and made again, same UID", [
    "static",
  ]);
  for (const label of ["", "true"]) restarted.inc({ static: label }, 0);
  for (const [name, help] of Object.entries(GAUGES)) registry.gauge(name, help).set(0);
}
