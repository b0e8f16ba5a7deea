// The settings of node resources: reservations, number of pods, resource managers, cgroups and the process's own
// limits. Times are ms.

import { DECLARABLE } from "../../model/declared-features.js";
import { SECOND, type ConfigReader } from "./reader.js";

export type ResourceSettings = Readonly<ReturnType<typeof resourceSettings>>;

const TOPOLOGY_POLICIES = ["none", "best-effort", "restricted", "single-numa-node"] as const;

export function resourceSettings(read: ConfigReader) {
  const staticCPUs = read.text("cpuManagerPolicy") === "static";
  const staticMemory = read.text("memoryManagerPolicy") === "Static";
  /** Sorted; undefined: the node declares none and admission does not check them. */
  const declaredFeatures = read.gate("NodeDeclaredFeatures") ? DECLARABLE.filter((gate) => read.gate(gate)) : undefined;
  return {
    declaredFeatures,
    maxPods: read.number("maxPods"),
    podsPerCore: read.number("podsPerCore"),
    /** Amounts by resource as given; rules/parse-reserved.ts reads them. */
    systemReserved: read.map("systemReserved"),
    kubeReserved: read.map("kubeReserved"),
    systemReservedCgroup: read.text("systemReservedCgroup"),
    kubeReservedCgroup: read.text("kubeReservedCgroup"),
    enforceNodeAllocatable: read.texts("enforceNodeAllocatable"),
    reservedSystemCPUs: read.text("reservedSystemCPUs"),
    reservedMemory: read.config.get("reservedMemory") ?? [],
    cpuManagerPolicy: staticCPUs ? ("static" as const) : ("none" as const),
    cpuManagerPolicyOptions: read.map("cpuManagerPolicyOptions"),
    cpuManagerReconcilePeriodMs: read.period("cpuManagerReconcilePeriod", 10 * SECOND),
    disableCPUQuotaWithExclusiveCPUs: read.gate("DisableCPUQuotaWithExclusiveCPUs"),
    memoryManagerPolicy: staticMemory ? ("Static" as const) : ("None" as const),
    topologyManagerPolicy: TOPOLOGY_POLICIES.find((name) => name === read.text("topologyManagerPolicy")) ?? "none",
    topologyManagerScope: read.text("topologyManagerScope") === "pod" ? ("pod" as const) : ("container" as const),
    topologyManagerPolicyOptions: read.map("topologyManagerPolicyOptions"),
    podLevelResources: read.gate("PodLevelResources"),
    podLevelResourceManagers: read.gate("PodLevelResourceManagers"),
    /** Which in-place resizes gates, policies and swap rule out. */
    resizeRules: {
      podLevel: read.gate("InPlacePodLevelResourcesVerticalScaling"),
      exclusiveCPUs: read.gate("InPlacePodVerticalScalingExclusiveCPUs"),
      exclusiveMemory: read.gate("InPlacePodVerticalScalingExclusiveMemory"),
      staticCPUs,
      staticMemory,
      limitedSwap: read.text("memorySwap.swapBehavior") === "LimitedSwap",
      declaredFeatures,
    },
  };
}
