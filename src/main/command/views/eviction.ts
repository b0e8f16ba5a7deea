// Eviction by node pressure, and the graceful shutdown of the node. Times are ms, unless they say otherwise.

import { shutdownGroups } from "../shutdown-groups.js";
import type { ConfigReader } from "./reader.js";

export type EvictionSettings = Readonly<ReturnType<typeof evictionSettings>>;

export function evictionSettings(read: ConfigReader) {
  return {
    /** Thresholds by signal as given; rules/parse-eviction.ts reads them. */
    evictionHard: read.map("evictionHard"),
    evictionSoft: read.map("evictionSoft"),
    evictionSoftGracePeriod: read.map("evictionSoftGracePeriod"),
    evictionMinimumReclaim: read.map("evictionMinimumReclaim"),
    evictionPressureTransitionPeriodMs: read.number("evictionPressureTransitionPeriod"),
    /** Seconds. */
    evictionMaxPodGracePeriod: read.number("evictionMaxPodGracePeriod"),
    kernelMemcgNotification: read.bool("kernelMemcgNotification"),
    localStorageCapacityIsolation: read.config.get("localStorageCapacityIsolation") ?? true,
    /** Lowest priority first; empty: the kubelet does not delay the node's shutdown. */
    shutdownGroups: shutdownGroups({
      shutdownGracePeriodMs: read.number("shutdownGracePeriod"),
      shutdownGracePeriodCriticalPodsMs: read.number("shutdownGracePeriodCriticalPods"),
      shutdownGracePeriodByPodPriority: read.config.get("shutdownGracePeriodByPodPriority") ?? [],
    }),
    /** The kubelet records the times of the last shutdown and shows them as metrics. */
    shutdownTimes: read.gate("GracefulNodeShutdownBasedOnPodPriority"),
  };
}
