// Admissions by the topology manager as upstream counts them. Main thread only.

import { exponentialBuckets, type ThreadRegistry } from "../../../shared/telemetry/metrics/thread-registry.js";

/** Milliseconds. */
const DURATION_BUCKETS = exponentialBuckets(0.05, 2, 15);

export interface TopologyMetrics {
  requested(): void;
  /** Under a policy other than none. */
  failed(): void;
  took(ms: number): void;
  /** A container, or with scope pod the pod, got all its resources within one NUMA node. */
  aligned(scope: "container" | "pod"): void;
  notAligned(scope: "container" | "pod"): void;
}

export function topologyMetrics(registry: ThreadRegistry): TopologyMetrics {
  const requests = registry.counter(
    "kubelet_topology_manager_admission_requests_total",
    "The number of admission requests where resources have to be aligned",
  );
  const errors = registry.counter(
    "kubelet_topology_manager_admission_errors_total",
    "The number of admission request failures where resources could not be aligned",
  );
  const duration = registry.histogram(
    "kubelet_topology_manager_admission_duration_ms",
    "Duration in milliseconds to serve a pod admission request",
    [],
    DURATION_BUCKETS,
  );
  const aligned = registry.counter(
    "kubelet_container_aligned_compute_resources_count",
    "Cumulative number of aligned compute resources allocated to containers, by scope and boundary",
    ["scope", "boundary"],
  );
  const failures = registry.counter(
    "kubelet_container_aligned_compute_resources_failure_count",
    "Cumulative number of failures to allocate aligned compute resources to containers, by scope and boundary",
    ["scope", "boundary"],
  );
  return {
    requested: () => requests.inc(),
    failed: () => errors.inc(),
    took: (ms) => duration.observe(ms),
    aligned: (scope) => aligned.inc({ scope, boundary: "numa_node" }),
    notAligned: (scope) => failures.inc({ scope, boundary: "numa_node" }),
  };
}
