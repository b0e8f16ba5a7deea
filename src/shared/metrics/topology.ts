// Admissions by the topology manager as upstream counts them. Main thread only.
import { exponentialBuckets, type ThreadRegistry } from "./thread-registry.js";

/** Milliseconds. */
const DURATION_BUCKETS = exponentialBuckets(0.05, 2, 15);

export interface TopologyMetrics {
  requested(): void;
  /** Under a policy other than none. */
  failed(): void;
  took(ms: number): void;
  /** A container, or with scope pod the pod's, got all it asked for within one NUMA node. */
  aligned(scope: "container" | "pod"): void;
  notAligned(scope: "container" | "pod"): void;
}

export function topologyMetrics(registry: ThreadRegistry): TopologyMetrics {
  const requests = registry.counter(
    "kubelet_topology_manager_admission_requests_total",
    "Pods the managers were asked for",
  );
  const errors = registry.counter(
    "kubelet_topology_manager_admission_errors_total",
    "Pods that could not have their resources in one place",
  );
  const duration = registry.histogram(
    "kubelet_topology_manager_admission_duration_ms",
    "How long the managers took to serve or refuse a pod, in milliseconds",
    [],
    DURATION_BUCKETS,
  );
  const aligned = registry.counter(
    "kubelet_container_aligned_compute_resources_count",
    "Containers whose resources lie within one boundary, by what it is",
    ["scope", "boundary"],
  );
  const failures = registry.counter(
    "kubelet_container_aligned_compute_resources_failure_count",
    "Containers refused because their resources would not have been within one boundary",
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
