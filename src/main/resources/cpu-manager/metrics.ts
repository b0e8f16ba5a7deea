// The CPU manager as upstream counts it. Main thread only.

import type { ThreadRegistry } from "../../../shared/telemetry/metrics/thread-registry.js";

export interface CpuManagerMetrics {
  /** A container requested exclusive CPUs. */
  requested(): void;
  failed(): void;
  /** It got whole cores because it had to (full-pcpus-only). */
  wholeCores(got: boolean): void;
  /** All its CPUs share a cache (prefer-align-cpus-by-uncorecache). */
  oneCache(): void;
  /** Current state: exclusively allocated CPUs by NUMA node, and CPUs that are free for allocation. */
  setAllocation(exclusive: number, free: number, byNumaNode: ReadonlyMap<number, number>): void;
}

export function cpuManagerMetrics(registry: ThreadRegistry): CpuManagerMetrics {
  const requests = registry.counter(
    "kubelet_cpu_manager_pinning_requests_total",
    "The number of cpu core allocations which required pinning",
  );
  const errors = registry.counter(
    "kubelet_cpu_manager_pinning_errors_total",
    "The number of cpu core allocations which required pinning and failed",
  );
  const exclusiveCount = registry.gauge(
    "kubelet_cpu_manager_exclusive_cpu_allocation_count",
    "The total number of CPUs exclusively allocated to containers running on this node",
  );
  const pool = registry.gauge(
    "kubelet_cpu_manager_shared_pool_size_millicores",
    "The size of the shared CPU pool for non-guaranteed QoS pods, in millicores, without the reserved CPUs",
  );
  const perNode = registry.gauge("kubelet_cpu_manager_allocation_per_numa", "Number of CPUs allocated per NUMA node", [
    "numa_node",
  ]);
  const labels = ["scope", "boundary"] as const;
  const aligned = registry.counter(
    "kubelet_container_aligned_compute_resources_count",
    "Cumulative number of aligned compute resources allocated to containers, by alignment type",
    labels,
  );
  const misaligned = registry.counter(
    "kubelet_container_aligned_compute_resources_failure_count",
    "Cumulative number of failures to allocate aligned compute resources to containers, by alignment type",
    labels,
  );
  const physical = { scope: "container", boundary: "physical_cpu" };
  return {
    requested: () => requests.inc(),
    failed: () => errors.inc(),
    wholeCores: (got) => (got ? aligned : misaligned).inc(physical),
    oneCache: () => aligned.inc({ scope: "container", boundary: "uncore_cache" }),
    setAllocation(exclusive, free, byNumaNode) {
      exclusiveCount.set(exclusive);
      pool.set(free * 1000);
      for (const [node, cpus] of byNumaNode) perNode.set({ numa_node: String(node) }, cpus);
    },
  };
}
