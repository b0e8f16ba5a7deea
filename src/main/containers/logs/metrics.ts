// Metrics of container logs on main: their size, and the results of rotation.

import type { Gauge, Counter } from "../../../shared/telemetry/metrics/prom.js";
import type { ThreadRegistry } from "../../../shared/telemetry/metrics/thread-registry.js";

interface ContainerLogMetrics {
  /** Upstream's name and labels. */
  usedBytes: Gauge<"uid" | "namespace" | "pod" | "container">;
  rotations: Counter<"result">;
  compressions: Counter<"outcome">;
}

export function containerLogMetrics(registry: ThreadRegistry): ContainerLogMetrics {
  return {
    usedBytes: registry.gauge(
      "kubelet_container_log_filesystem_used_bytes",
      "Bytes used by the container's logs on the filesystem, as of the last check by log rotation",
      ["uid", "namespace", "pod", "container"],
    ),
    rotations: registry.counter(
      "nodelet_log_rotations_total",
      "Number of rotations of container logs, by result: ok, failed",
      ["result"],
    ),
    compressions: registry.counter(
      "nodelet_log_compressions_total",
      "Number of compressions of rotated logs, by result: compressed, gone, failed",
      ["outcome"],
    ),
  };
}
