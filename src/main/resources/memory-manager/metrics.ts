// The memory manager as upstream counts it. Main thread only.

import type { ThreadRegistry } from "../../../shared/telemetry/metrics/thread-registry.js";

export interface MemoryManagerMetrics {
  /** A container whose memory is set aside was admitted. */
  requested(): void;
  /** There was no place for it. */
  failed(): void;
}

export function memoryManagerMetrics(registry: ThreadRegistry): MemoryManagerMetrics {
  const requests = registry.counter(
    "kubelet_memory_manager_pinning_requests_total",
    "Number of containers that requested memory from the memory manager",
  );
  const errors = registry.counter(
    "kubelet_memory_manager_pinning_errors_total",
    "Number of containers for which the memory manager could not allocate memory",
  );
  return { requested: () => requests.inc(), failed: () => errors.inc() };
}
