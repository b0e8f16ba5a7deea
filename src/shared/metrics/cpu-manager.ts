// The CPU manager as upstream counts it. Main thread only.
import type { ThreadRegistry } from "./thread-registry.js";

export interface CpuManagerMetrics {
  /** A container asked for CPUs of its own. */
  requested(): void;
  failed(): void;
  /** It got whole cores because it had to (full-pcpus-only). */
  wholeCores(got: boolean): void;
  /** All its CPUs share a cache (prefer-align-cpus-by-uncorecache). */
  oneCache(): void;
  /** How things stand: CPUs handed out by NUMA node, and CPUs that could be. */
  standing(exclusive: number, free: number, byNumaNode: ReadonlyMap<number, number>): void;
}

export function cpuManagerMetrics(registry: ThreadRegistry): CpuManagerMetrics {
  const requests = registry.counter(
    "kubelet_cpu_manager_pinning_requests_total",
    "Containers that asked for CPUs of their own",
  );
  const errors = registry.counter(
    "kubelet_cpu_manager_pinning_errors_total",
    "Containers that asked for CPUs of their own and could not have them",
  );
  const exclusiveCount = registry.gauge(
    "kubelet_cpu_manager_exclusive_cpu_allocation_count",
    "CPUs that are one container's alone",
  );
  const pool = registry.gauge(
    "kubelet_cpu_manager_shared_pool_size_millicores",
    "Size of the shared pool without the reserved CPUs, in thousandths of a CPU",
  );
  const perNode = registry.gauge("kubelet_cpu_manager_allocation_per_numa", "CPUs handed out, by NUMA node", [
    "numa_node",
  ]);
  const labels = ["scope", "boundary"] as const;
  const aligned = registry.counter(
    "kubelet_container_aligned_compute_resources_count",
    "Containers that got resources aligned to a boundary of the machine",
    labels,
  );
  const misaligned = registry.counter(
    "kubelet_container_aligned_compute_resources_failure_count",
    "Containers that could not get resources aligned to a boundary of the machine",
    labels,
  );
  const physical = { scope: "container", boundary: "physical_cpu" };
  return {
    requested: () => requests.inc(),
    failed: () => errors.inc(),
    wholeCores: (got) => (got ? aligned : misaligned).inc(physical),
    oneCache: () => aligned.inc({ scope: "container", boundary: "uncore_cache" }),
    standing(exclusive, free, byNumaNode) {
      exclusiveCount.set(exclusive);
      pool.set(free * 1000);
      for (const [node, cpus] of byNumaNode) perNode.set({ numa_node: String(node) }, cpus);
    },
  };
}
