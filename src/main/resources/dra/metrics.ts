// Metrics of ResourceClaims under upstream's names: durations of operations, and the number of claims in use.

import { LabelValues } from "../../../shared/telemetry/metrics/label-values.js";
import type { ThreadRegistry } from "../../../shared/telemetry/metrics/thread-registry.js";
import type { ClaimState } from "./claim-state.js";
import type { ClaimsObserver } from "./claims.js";

/** Upstream's label for the claims of all drivers. */
const ANY_DRIVER = "<any>";
/** 15 steps from 0.1 s to 40 s, each the same times longer. */
const BUCKETS = Array.from({ length: 15 }, (_, index) => 0.1 * 400 ** (index / 14));

export interface DraMetrics extends ClaimsObserver {
  /** A call to a plugin ended; `code`: a gRPC status by its name. */
  called(driver: string, method: string, code: string, seconds: number): void;
}

export function draMetrics(registry: ThreadRegistry, claims: () => readonly ClaimState[]): DraMetrics {
  const operations = registry.histogram(
    "dra_operations_duration_seconds",
    "Latency histogram in seconds for the duration of handling all ResourceClaims referenced by a pod when the pod starts or stops",
    ["operation_name", "is_error"],
    BUCKETS,
  );
  const calls = registry.histogram(
    "dra_grpc_operations_duration_seconds",
    "Duration in seconds of the DRA gRPC operations",
    ["driver_name", "method_name", "grpc_status_code"],
    BUCKETS,
  );
  const inUse = registry.gauge(
    "dra_resource_claims_in_use",
    "The number of ResourceClaims that are currently in use on the node, by driver name",
    ["driver_name"],
  );
  registry.onSnapshot(() => {
    inUse.reset();
    const prepared = claims().filter((claim) => claim.prepared);
    inUse.set({ driver_name: ANY_DRIVER }, prepared.length);
    for (const driver of new Set(prepared.flatMap((claim) => [...claim.drivers.keys()]))) {
      inUse.set({ driver_name: driver }, prepared.filter((claim) => claim.drivers.has(driver)).length);
    }
  });
  const drivers = new LabelValues();
  return {
    operation: (operation_name, seconds, failed) =>
      operations.observe({ operation_name, is_error: String(failed) }, seconds),
    called: (driver, method_name, grpc_status_code, seconds) =>
      calls.observe({ driver_name: drivers.of(driver), method_name, grpc_status_code }, seconds),
  };
}
