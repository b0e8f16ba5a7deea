// Metrics of image garbage collection.
import type { ThreadRegistry } from "./thread-registry.js";

/** Why an image went: space was short, or nobody had used it for imageMaximumGCAge. */
export type RemovalReason = "space" | "age";

export interface ImageGcMetrics {
  removed(reason: RemovalReason, bytes: number): void;
  /** Main did not let an image go: it had come into use. */
  refused(count: number): void;
  linksRemoved(count: number): void;
}

export function imageGcMetrics(registry: ThreadRegistry): ImageGcMetrics {
  const removed = registry.counter("kubelet_image_garbage_collected_total", "Images removed, by reason", ["reason"]);
  const freed = registry.counter("nodelet_image_gc_freed_bytes_total", "Size of the images removed, by reason", [
    "reason",
  ]);
  const refused = registry.counter("nodelet_image_gc_refused_total", "Removals of images that main did not grant");
  const links = registry.counter("nodelet_log_links_removed_total", "Links to container logs that led nowhere");
  for (const reason of ["space", "age"] as const) removed.inc({ reason }, 0);
  return {
    removed(reason, bytes) {
      removed.inc({ reason });
      freed.inc({ reason }, bytes);
    },
    refused: (count) => refused.inc(count),
    linksRemoved: (count) => links.inc(count),
  };
}
