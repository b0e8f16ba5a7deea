// CRI calls that the dockershim serves. The names are ours: kubelet_docker_operations_* of Kubernetes 1.23 counted
// calls to docker.

import type { ThreadRegistry } from "../../shared/telemetry/metrics/thread-registry.js";

export interface DockershimMetrics {
  call(method: string, durationMs: number, failed: boolean): void;
}

export function dockershimMetrics(registry: ThreadRegistry): DockershimMetrics {
  const durations = registry.histogram(
    "nodelet_dockershim_calls_duration_seconds",
    "Duration of CRI calls that the dockershim served, by method",
    ["method"],
  );
  const errors = registry.counter(
    "nodelet_dockershim_calls_errors_total",
    "CRI calls that the dockershim answered with an error, by method",
    ["method"],
  );
  return {
    call(method, durationMs, failed) {
      durations.observe({ method }, durationMs / 1000);
      if (failed) errors.inc({ method });
    },
  };
}
