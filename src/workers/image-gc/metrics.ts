// Metrics of image garbage collection.

import type { ThreadRegistry } from "../../shared/telemetry/metrics/thread-registry.js";

/** Why an image was removed: the disk was short, or the image was unused for imageMaximumGCAge. */
export type RemovalReason = "space" | "age";

export interface ImageGcMetrics {
  removed(reason: RemovalReason, bytes: number): void;
  /** Main did not let an image go: it had come into use. */
  refused(count: number): void;
}

export function imageGcMetrics(registry: ThreadRegistry): ImageGcMetrics {
  const removed = registry.counter(
    "kubelet_image_garbage_collected_total",
    "Total number of images garbage collected by the kubelet, by reason (age or space)",
    ["reason"],
  );
  const freed = registry.counter(
    "nodelet_image_gc_freed_bytes_total",
    "Total size of garbage collected images in bytes, by reason",
    ["reason"],
  );
  const refused = registry.counter(
    "nodelet_image_gc_refused_total",
    "Number of image removals that were refused because the image was in use",
  );
  for (const reason of ["space", "age"] as const) removed.inc({ reason }, 0);
  return {
    removed(reason, bytes) {
      removed.inc({ reason });
      freed.inc({ reason }, bytes);
    },
    refused: (count) => refused.inc(count),
  };
}
