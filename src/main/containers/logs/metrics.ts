// Metrics of container logs on main: their size, and the results of rotation.

import { makeMetrics, type MetricRows, type MetricsOf } from "../../../shared/telemetry/metrics/metric-rows.js";
import type { ThreadRegistry } from "../../../shared/telemetry/metrics/thread-registry.js";

const CONTAINER_LOG_METRICS = {
  /** Upstream's name and labels. */
  usedBytes: (registry) =>
    registry.gauge(
      "kubelet_container_log_filesystem_used_bytes",
      "Bytes used by the container's logs on the filesystem, as of the last check by log rotation",
      ["uid", "namespace", "pod", "container"],
    ),
  rotations: (registry) =>
    registry.counter("nodelet_log_rotations_total", "Number of rotations of container logs, by result: ok, failed", [
      "result",
    ]),
  compressions: (registry) =>
    registry.counter(
      "nodelet_log_compressions_total",
      "Number of compressions of rotated logs, by result: compressed, gone, failed",
      ["outcome"],
    ),
} satisfies MetricRows;

export function containerLogMetrics(registry: ThreadRegistry): MetricsOf<typeof CONTAINER_LOG_METRICS> {
  return makeMetrics(CONTAINER_LOG_METRICS, registry);
}
