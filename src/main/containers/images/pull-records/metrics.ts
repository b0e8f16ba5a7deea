// Access to images that are there, as it was checked, and the records it was checked by, under upstream's names.
// Main thread only.

import type { ThreadRegistry } from "../../../../shared/telemetry/metrics/thread-registry.js";

/** Upstream's values of the label `result`. */
export type AccessCheck = "credentialPolicyAllowed" | "credentialRecordFound" | "mustAuthenticate" | "error";

/** Read when metrics are; shares are of what memory may hold. */
interface PullRecordCounts {
  intentsOnDisk(): Promise<number>;
  recordsOnDisk(): Promise<number>;
  intentsShare(): number;
  recordsShare(): number;
}

export interface PullRecordMetrics {
  checked(result: AccessCheck): void;
  watch(counts: PullRecordCounts): void;
}

export function pullRecordMetrics(registry: ThreadRegistry): PullRecordMetrics {
  const gauge = (name: string, help: string) => registry.gauge(`kubelet_imagemanager_${name}`, help);
  const checks = registry.counter(
    "kubelet_imagemanager_image_mustpull_checks_total",
    "Number of requests for images that were present, by result of the credential verification",
    ["result"],
  );
  const intentsOnDisk = gauge("ondisk_pullintents", "Number of image pull intents on disk");
  const recordsOnDisk = gauge("ondisk_pulledrecords", "Number of image pulled records on disk");
  const intentsShare = gauge(
    "inmemory_pullintents_usage_percent",
    "Usage in percent of the cache for image pull intents",
  );
  const recordsShare = gauge(
    "inmemory_pulledrecords_usage_percent",
    "Usage in percent of the cache for image pulled records",
  );
  return {
    checked: (result) => checks.inc({ result }),
    watch: (counts) =>
      registry.onSnapshot(async () => {
        const [intents, records] = await Promise.all([counts.intentsOnDisk(), counts.recordsOnDisk()]);
        intentsOnDisk.set(intents);
        recordsOnDisk.set(records);
        intentsShare.set(Math.round(counts.intentsShare() * 100));
        recordsShare.set(Math.round(counts.recordsShare() * 100));
      }),
  };
}
