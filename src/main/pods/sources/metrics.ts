// Metrics of the manifests of static pods.

import type { ThreadRegistry } from "../../../shared/telemetry/metrics/thread-registry.js";

export interface ManifestMetrics {
  /** Manifests of each kind, now. */
  set(counts: { refused: number; shadowed: number; warned: number }): void;
}

export function manifestMetrics(registry: ThreadRegistry): ManifestMetrics {
  const refused = registry.gauge(
    "nodelet_manifests_refused",
    "Number of manifests of static pods that are refused now: files, the URL, and manifests of the manifest API",
  );
  const shadowed = registry.gauge(
    "nodelet_manifests_shadowed",
    "Number of manifests whose pod does not run because another pod has its name or UID",
  );
  const warned = registry.gauge("nodelet_manifests_warned", "Number of manifests of which a part is ignored");
  const set: ManifestMetrics["set"] = (counts) => {
    refused.set({}, counts.refused);
    shadowed.set({}, counts.shadowed);
    warned.set({}, counts.warned);
  };
  set({ refused: 0, shadowed: 0, warned: 0 });
  return { set };
}
