// Metrics of CRI calls: kubelet_runtime_operations_*. One instance per thread that calls the runtime.

import { exponentialBuckets, type ThreadRegistry } from "./thread-registry.js";

interface RuntimeCall {
  /** Upstream's operation_type: "run_podsandbox", "create_container", "list_containers", … */
  operation: string;
  durationMs: number;
  /** Absent: the call succeeded. */
  error?: Error;
}

export interface RuntimeOperationsMetrics {
  recordCall: (call: RuntimeCall) => void;
}

export function runtimeOperationsMetrics(registry: ThreadRegistry): RuntimeOperationsMetrics {
  const labels = ["operation_type"] as const;
  const total = registry.counter(
    "kubelet_runtime_operations_total",
    "Cumulative number of runtime operations by operation type",
    labels,
  );
  const errors = registry.counter(
    "kubelet_runtime_operations_errors_total",
    "Cumulative number of runtime operation errors by operation type",
    labels,
  );
  const duration = registry.histogram(
    "kubelet_runtime_operations_duration_seconds",
    "Duration in seconds of runtime operations, by operation type",
    labels,
    exponentialBuckets(0.005, 2.5, 14),
  );
  return {
    recordCall({ operation, durationMs, error }) {
      total.inc({ operation_type: operation });
      duration.observe({ operation_type: operation }, durationMs / 1000);
      if (error !== undefined) errors.inc({ operation_type: operation });
    },
  };
}
