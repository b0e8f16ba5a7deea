// Metrics of evictions as main carries them out, under upstream's names.

import type { LocalLimit } from "../../../shared/contracts/eviction.js";
import { isEvictionSignal, type EvictionSignal } from "../../../shared/kubernetes/api/eviction-threshold.js";
import type { ThreadRegistry } from "../../../shared/telemetry/metrics/thread-registry.js";

export interface EvictionMetrics {
  /** A pod had to go. `sampleAgeMs`: how old the figures were by which that was judged. */
  evicted(signal: EvictionSignal | LocalLimit, sampleAgeMs: number): void;
  /** An order came for a pod that is another by now, or over. */
  outdated(): void;
}

export function evictionMetrics(registry: ThreadRegistry): EvictionMetrics {
  const label = ["eviction_signal"] as const;
  const evictions = registry.counter(
    "kubelet_evictions",
    "Cumulative number of pod evictions by eviction signal",
    label,
  );
  const age = registry.histogram(
    "kubelet_eviction_stats_age_seconds",
    "Time in seconds between the collection of stats and the eviction of a pod based on them, by eviction signal",
    label,
  );
  const outdated = registry.counter(
    "nodelet_eviction_orders_outdated_total",
    "Number of eviction orders dropped because the pod had changed",
  );
  return {
    evicted(signal, sampleAgeMs) {
      evictions.inc({ eviction_signal: signal });
      // A pod's own limits are no signal of the node.
      if (isEvictionSignal(signal)) age.observe({ eviction_signal: signal }, sampleAgeMs / 1000);
    },
    outdated: () => outdated.inc(),
  };
}
