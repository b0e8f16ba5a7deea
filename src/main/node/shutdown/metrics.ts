// The last graceful shutdown of the node, seen over boots.
import type { ThreadRegistry } from "../../../shared/metrics/thread-registry.js";

export interface ShutdownMetrics {
  /** Milliseconds since the epoch; undefined: there was none, or it is not over. */
  times(start: number | undefined, end: number | undefined): void;
}

export function shutdownMetrics(registry: ThreadRegistry): ShutdownMetrics {
  const start = registry.gauge(
    "kubelet_graceful_shutdown_start_time_seconds",
    "Last graceful shutdown start time in Unix seconds",
  );
  const end = registry.gauge(
    "kubelet_graceful_shutdown_end_time_seconds",
    "Last graceful shutdown end time in Unix seconds",
  );
  return {
    times(startMs = 0, endMs = 0) {
      start.set(startMs / 1000);
      end.set(endMs / 1000);
    },
  };
}
