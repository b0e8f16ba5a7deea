// Metrics of the status manager: the time until a status reaches the API server, and the number of mirror pods.

import type { ThreadRegistry } from "../../../../shared/telemetry/metrics/thread-registry.js";

export interface PodStatusMetrics {
  /** From the change to the server's response. */
  synced(seconds: number): void;
  mirrorPods(count: number): void;
}

export function podStatusMetrics(registry: ThreadRegistry): PodStatusMetrics {
  const duration = registry.histogram(
    "kubelet_pod_status_sync_duration_seconds",
    "Duration in seconds to sync a pod status update to the API server, from detection to success",
    [],
    [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 20, 30, 45, 60],
  );
  const mirrors = registry.gauge(
    "kubelet_mirror_pods",
    "The number of mirror pods of this node that exist in the API server",
  );
  return {
    synced: (seconds) => duration.observe(seconds),
    mirrorPods: (count) => mirrors.set(count),
  };
}
