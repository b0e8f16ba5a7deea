// In-place resizes as upstream counts them. Main thread only.

import type { ThreadRegistry } from "../../../shared/telemetry/metrics/thread-registry.js";

/** Milliseconds. */
const DURATION_BUCKETS = [
  10, 50, 100, 500, 1000, 2000, 5000, 10_000, 20_000, 30_000, 60_000, 120_000, 300_000, 600_000,
];

export interface ResizeMetrics {
  requested(resource: string, requirement: "requests" | "limits", operation: string): void;
  infeasible(detail: string): void;
  deferredAccepted(trigger: string): void;
  pending(deferred: number, infeasible: number): void;
  inProgress(count: number): void;
  ended(durationMs: number, ok: boolean): void;
}

export function resizeMetrics(registry: ThreadRegistry): ResizeMetrics {
  const requested = registry.counter(
    "kubelet_container_requested_resizes_total",
    "Number of requested resizes, counted at the container level, by resource, requirement and operation",
    ["resource", "requirement", "operation"],
  );
  const infeasible = registry.counter(
    "kubelet_pod_infeasible_resizes_total",
    "Number of infeasible pod resizes, by reason",
    ["reason_detail"],
  );
  const accepted = registry.counter(
    "kubelet_pod_deferred_accepted_resizes_total",
    "Cumulative number of resizes that were deferred and then accepted, by retry trigger",
    ["retry_trigger"],
  );
  const pending = registry.gauge("kubelet_pod_pending_resizes", "Number of pods with a pending resize, by reason", [
    "reason",
  ]);
  const inProgress = registry.gauge("kubelet_pod_in_progress_resizes", "Number of pods with a resize in progress");
  const duration = registry.histogram(
    "kubelet_pod_resize_duration_milliseconds",
    "Duration in milliseconds to actuate pod resizes",
    ["success"],
    DURATION_BUCKETS,
  );
  return {
    requested: (resource, requirement, operation) => requested.inc({ resource, requirement, operation }),
    infeasible: (detail) => infeasible.inc({ reason_detail: detail }),
    deferredAccepted: (trigger) => accepted.inc({ retry_trigger: trigger }),
    pending(waiting, never) {
      pending.set({ reason: "deferred" }, waiting);
      pending.set({ reason: "infeasible" }, never);
    },
    inProgress: (count) => inProgress.set(count),
    ended: (ms, ok) => duration.observe({ success: String(ok) }, ms),
  };
}
