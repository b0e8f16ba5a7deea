// Images as the puller counts them, under upstream's names (kubelet_image_*). Main thread only.

import type { ThreadRegistry } from "../../../shared/telemetry/metrics/thread-registry.js";

/** Label values of upstream. */
type Known = "true" | "false" | "unknown";

export interface ImageMetrics {
  ensured(policy: string, presentLocally: Known, pullRequired: Known): void;
  /** `bytes` 0: not known. */
  pulled(durationMs: number, bytes: bigint): void;
}

const PULL_BUCKETS = [1, 5, 10, 20, 30, 60, 120, 180, 240, 300, 360, 480, 600, 900, 1200, 1800, 2700, 3600];
const MIB = 1024n * 1024n;
const GIB = 1024n * MIB;
/** A size belongs to the first row it is below. */
const SIZES: readonly (readonly [below: bigint, label: string])[] = [
  [1n, "N/A"],
  [10n * MIB, "0-10MB"],
  [100n * MIB, "10MB-100MB"],
  [500n * MIB, "100MB-500MB"],
  [GIB, "500MB-1GB"],
  [5n * GIB, "1GB-5GB"],
  [10n * GIB, "5GB-10GB"],
  [20n * GIB, "10GB-20GB"],
  [30n * GIB, "20GB-30GB"],
  [40n * GIB, "30GB-40GB"],
  [60n * GIB, "40GB-60GB"],
  [100n * GIB, "60GB-100GB"],
];

/** @internal */
export function imageSizeLabel(bytes: bigint): string {
  return SIZES.find(([below]) => bytes < below)?.[1] ?? "GT100GB";
}

export function imageMetrics(registry: ThreadRegistry): ImageMetrics {
  const requests = registry.counter(
    "kubelet_image_manager_ensure_image_requests_total",
    "Number of images ensured by the kubelet, by pull policy and presence",
    ["pull_policy", "present_locally", "pull_required"],
  );
  const duration = registry.histogram(
    "kubelet_image_pull_duration_seconds",
    "Duration in seconds to pull an image, by image size",
    ["image_size_in_bytes"],
    PULL_BUCKETS,
  );
  return {
    ensured(policy, presentLocally, pullRequired) {
      requests.inc({
        pull_policy: policy.toLowerCase(),
        present_locally: presentLocally,
        pull_required: pullRequired,
      });
    },
    pulled: (durationMs, bytes) => duration.observe({ image_size_in_bytes: imageSizeLabel(bytes) }, durationMs / 1000),
  };
}
