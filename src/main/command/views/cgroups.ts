// The process's own limits, the cgroup tree, and how containers are held to their limits. Times are ms.

import { parseWholePercentage } from "../rules/parse-percentage.js";
import type { ConfigReader } from "./reader.js";

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
    qosReservedMemory: read.gate("QOSReserved")
      ? parseWholePercentage(read.map("qosReserved")["memory"] ?? "")
      : undefined,
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
