// Metrics of the pod lifecycle event generator: kubelet_pleg_*.
import type { ThreadRegistry } from "../../shared/metrics/thread-registry.js";

export interface PlegMetrics {
  /** A relist ended; `intervalMs` is the time since the relist before it began, undefined for the first. */
  relisted(relist: { atMs: number; durationMs: number; intervalMs?: number }): void;
  /** One pod was inspected. */
  inspected(durationMs: number): void;
  /** Lifecycle events that could not be handed over. */
  discarded(count: number): void;
}

export function plegMetrics(registry: ThreadRegistry): PlegMetrics {
  const lastSeen = registry.gauge(
    "kubelet_pleg_last_seen_seconds",
    "Timestamp in seconds when the PLEG was last seen active",
  );
  const discard = registry.counter("kubelet_pleg_discard_events", "The number of discarded events in the PLEG");
  const relist = registry.histogram(
    "kubelet_pleg_relist_duration_seconds",
    "Duration in seconds for relisting pods in the PLEG",
  );
  const interval = registry.histogram(
    "kubelet_pleg_relist_interval_seconds",
    "Interval in seconds between relisting in the PLEG",
  );
  const inspect = registry.histogram(
    "kubelet_pleg_pod_relist_duration_seconds",
    "Duration in seconds for relisting a single pod in the PLEG",
  );
  return {
    relisted({ atMs, durationMs, intervalMs }) {
      lastSeen.set(Math.floor(atMs / 1000));
      relist.observe(durationMs / 1000);
      if (intervalMs !== undefined) interval.observe(intervalMs / 1000);
    },
    inspected(durationMs) {
      inspect.observe(durationMs / 1000);
    },
    discarded(count) {
      if (count > 0) discard.inc(count);
    },
  };
}
