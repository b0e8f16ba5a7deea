// The pleg thread's own metrics (facts/metrics.tsv, kubelet_pleg_*) and its CRI call metrics.
import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import type { Clock } from "../../shared/clock/clock.js";
import type { PlegMetrics } from "./pleg.js";

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Registers the families in the thread's registry. */
export function createPlegMetrics(registry: Registry, clock: Clock): PlegMetrics {
  const registers = [registry];
  const relistDuration = new Histogram({
    name: "kubelet_pleg_relist_duration_seconds",
    help: "Duration in seconds for relisting pods in PLEG.",
    buckets: SECONDS,
    registers,
  });
  const relistInterval = new Histogram({
    name: "kubelet_pleg_relist_interval_seconds",
    help: "Interval in seconds between relisting in PLEG.",
    buckets: SECONDS,
    registers,
  });
  const podRelist = new Histogram({
    name: "kubelet_pleg_pod_relist_duration_seconds",
    help: "Duration in seconds for inspecting a single pod in PLEG.",
    buckets: SECONDS,
    registers,
  });
  const lastSeen = new Gauge({
    name: "kubelet_pleg_last_seen_seconds",
    help: "Timestamp in seconds when PLEG was last seen active.",
    registers,
  });
  const records = new Counter({
    name: "nodelet_pleg_records_total",
    help: "Records published to the sync loop.",
    registers,
  });
  return {
    relist(durationMs, intervalMs) {
      relistDuration.observe(durationMs / 1000);
      if (intervalMs > 0) relistInterval.observe(intervalMs / 1000);
      lastSeen.set(clock.now() / 1000);
    },
    podInspected: (durationMs) => podRelist.observe(durationMs / 1000),
    published: () => records.inc(),
  };
}
