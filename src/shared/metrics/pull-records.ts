// Access to images that are there, as it was checked, and the records it was checked by, under upstream's names.
// Main thread only.
import type { ThreadRegistry } from "./thread-registry.js";

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
    "Images that were there, by whether the pod had to prove that it may use them",
    ["result"],
  );
  const intentsOnDisk = gauge("ondisk_pullintents", "Pulls on record as under way");
  const recordsOnDisk = gauge("ondisk_pulledrecords", "Images on record as pulled");
  const intentsShare = gauge("inmemory_pullintents_usage_percent", "Pulls under way, of what memory may hold");
  const recordsShare = gauge("inmemory_pulledrecords_usage_percent", "Records in memory, of what memory may hold");
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
