// Sources of static pods, and the interval between two syncs of each pod. Times are ms.

import { SECOND, type ConfigReader } from "./reader.js";

/** Upstream's shortest limit of the sync loop's age. */
const SYNC_LOOP_MIN_AGE_MS = 5 * 60 * SECOND;

export function sourceSettings(read: ConfigReader) {
  const syncFrequencyMs = read.period("syncFrequency", 60 * SECOND);
  return {
    staticPodPath: read.text("staticPodPath"),
    staticPodURL: read.text("staticPodURL"),
    staticPodURLHeader: read.config.get("staticPodURLHeader") ?? {},
    fileCheckFrequencyMs: read.period("fileCheckFrequency", 20 * SECOND),
    httpCheckFrequencyMs: read.period("httpCheckFrequency", 20 * SECOND),
    preventStaticPodAPIReferences: read.gate("PreventStaticPodAPIReferences"),
    syncFrequencyMs,
    /** /healthz fails when the sync loop has not run for this long. */
    syncLoopMaxAgeMs: Math.max(2 * syncFrequencyMs, SYNC_LOOP_MIN_AGE_MS),
  };
}
