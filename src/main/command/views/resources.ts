// The settings of node resources: reservations, number of pods, resource managers, cgroups and the process's own limits. Times are ms.
import { DECLARABLE } from "../../model/declared-features.js";
import { SECOND, type ConfigReader } from "./reader.js";
import { parsePercentage } from "../rules/parse-reserved.js";

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

// The process's own limits, the cgroup tree, and how containers are held to their limits. Times are ms.

export type CgroupSettings = Readonly<ReturnType<typeof cgroupSettings>>;

/** Upstream's, for a file that leaves the field out. */
const THROTTLING_FACTOR = 0.9;

export function cgroupSettings(read: ConfigReader) {
  return {
    cgroupRoot: read.text("cgroupRoot"),
    cgroupDriver: read.text("cgroupDriver") === "systemd" ? ("systemd" as const) : ("cgroupfs" as const),
    cgroupsPerQOS: read.bool("cgroupsPerQOS"),
    kubeletCgroups: read.text("kubeletCgroups"),
    systemCgroups: read.text("systemCgroups"),
    failSwapOn: read.bool("failSwapOn"),
    failCgroupV1: read.bool("failCgroupV1"),
    protectKernelDefaults: read.bool("protectKernelDefaults"),
    oomScoreAdj: read.number("oomScoreAdj"),
    maxOpenFiles: read.number("maxOpenFiles"),
    podPidsLimit: read.number("podPidsLimit"),
    cpuCFSQuota: read.bool("cpuCFSQuota"),
    cpuCFSQuotaPeriodMs: read.period("cpuCFSQuotaPeriod", 100),
    /** undefined: true on cgroup v1, false on v2. */
    singleProcessOOMKill: read.config.get("singleProcessOOMKill"),
    swapBehavior:
      read.text("memorySwap.swapBehavior") === "LimitedSwap" ? ("LimitedSwap" as const) : ("NoSwap" as const),
    memoryQos: memoryQos(read),
    /** Percent of memory; undefined: nothing is reserved for the higher QoS classes. */
    qosReservedMemory: read.gate("QOSReserved") ? parsePercentage(read.map("qosReserved")["memory"] ?? "") : undefined,
  };
}

/** undefined: the gate MemoryQoS is off. */
function memoryQos({ config, gate }: ConfigReader): { throttlingFactor: number; reserve: boolean } | undefined {
  if (!gate("MemoryQoS")) return undefined;
  return {
    throttlingFactor: config.get("memoryThrottlingFactor") ?? THROTTLING_FACTOR,
    reserve: config.get("memoryReservationPolicy") === "TieredReservation",
  };
}
