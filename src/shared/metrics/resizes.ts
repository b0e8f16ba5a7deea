// In-place resizes as upstream counts them. Main thread only.
import type { ThreadRegistry } from "./thread-registry.js";

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
    "Changes of CPU and memory asked for, of containers",
    ["resource", "requirement", "operation"],
  );
  const infeasible = registry.counter("kubelet_pod_infeasible_resizes_total", "Resizes that can never be done here", [
    "reason_detail",
  ]);
  const accepted = registry.counter(
    "kubelet_pod_deferred_accepted_resizes_total",
    "Resizes that were granted after they had waited for room, by what made them be tried again",
    ["retry_trigger"],
  );
  const pending = registry.gauge("kubelet_pod_pending_resizes", "Pods whose resize is not granted", ["reason"]);
  const inProgress = registry.gauge("kubelet_pod_in_progress_resizes", "Pods whose resize is granted but not done");
  const duration = registry.histogram(
    "kubelet_pod_resize_duration_milliseconds",
    "From a resize granted to its end, in milliseconds",
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
