// Calls to CSI drivers as operators of other kubelets know them. Main thread only.

import { LabelValues } from "../../../shared/telemetry/metrics/label-values.js";
import type { ThreadRegistry } from "../../../shared/telemetry/metrics/thread-registry.js";

const BUCKETS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 25, 50, 120, 300, 600];

export interface CsiMetrics {
  /** `method`: "/csi.v1.Node/NodePublishVolume"; `status`: gRPC's name, "OK" or "DeadlineExceeded". */
  call(driver: string, method: string, status: string, durationMs: number): void;
}

export function csiMetrics(registry: ThreadRegistry): CsiMetrics {
  const seconds = registry.histogram(
    "csi_operations_seconds",
    "Container Storage Interface operation duration in seconds, by gRPC status code",
    ["driver_name", "method_name", "grpc_status_code", "migrated"],
    BUCKETS,
  );
  const drivers = new LabelValues();
  return {
    call(driver, method_name, grpc_status_code, durationMs) {
      const driver_name = drivers.of(driver);
      seconds.observe({ driver_name, method_name, grpc_status_code, migrated: "false" }, durationMs / 1000);
    },
  };
}
