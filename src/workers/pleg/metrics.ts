// Metrics of the pod lifecycle event generator: kubelet_pleg_*.

import type { ThreadRegistry } from "../../shared/telemetry/metrics/thread-registry.js";

export interface PlegMetrics {
  /** A relist ended; `intervalMs` is the time since the relist before it began, undefined for the first. */
  relisted(relist: { atMs: number; durationMs: number; intervalMs?: number | undefined }): void;
  /** One pod was inspected. */
  inspected(durationMs: number): void;
  /** Lifecycle events that could not be handed over. */
  discarded(count: number): void;
  /** The runtime's event stream works (again). */
  streamConnected(): void;
  streamFailed(): void;
  /** From the event to its arrival here. */
  eventArrived(latencyMs: number): void;
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
  const connected = registry.counter(
    "kubelet_evented_pleg_connection_success_count",
    "The number of times a streaming client was obtained to receive CRI Events",
  );
  const failed = registry.counter(
    "kubelet_evented_pleg_connection_error_count",
    "The number of errors encountered during the establishment of streaming connection with the CRI runtime",
  );
  const latency = registry.histogram(
    "kubelet_evented_pleg_connection_latency_seconds",
    "The latency of streaming connection with the CRI runtime, measured in seconds",
  );
  return {
    streamConnected: () => connected.inc(),
    streamFailed: () => failed.inc(),
    eventArrived: (latencyMs) => latency.observe(Math.max(0, latencyMs) / 1000),
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
