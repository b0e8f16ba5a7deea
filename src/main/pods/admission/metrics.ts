// Pods that were refused, and pods that had to go for others.

import type { ThreadRegistry } from "../../../shared/telemetry/metrics/thread-registry.js";

export interface AdmissionMetrics {
  rejected(reason: string): void;
  /** `resource`: the resource that was short. */
  preempted(resource: string): void;
}

/** Label values are bounded: resource names come from manifests. */
const NATIVE = new Set(["OutOfcpu", "OutOfmemory", "OutOfephemeral-storage", "OutOfpods"]);

export function admissionMetrics(registry: ThreadRegistry): AdmissionMetrics {
  const rejections = registry.counter(
    "kubelet_admission_rejections_total",
    "Cumulative number of pod admission rejections by the kubelet, by reason",
    ["reason"],
  );
  const preemptions = registry.counter(
    "kubelet_preemptions",
    "Cumulative number of pod preemptions by preemption resource",
    ["preemption_signal"],
  );
  return {
    rejected(reason) {
      const extended = reason.startsWith("OutOf") && !NATIVE.has(reason);
      rejections.inc({ reason: extended ? "OutOfExtendedResources" : reason });
    },
    preempted: (resource) => preemptions.inc({ preemption_signal: resource }),
  };
}
