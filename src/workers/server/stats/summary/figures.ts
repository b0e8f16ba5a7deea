// Converts readings to the parts of the Summary.

import { omitUndefined } from "../../../../shared/base/objects/omit-undefined.js";
import type { CgroupPressure, MemoryFigures, Pressure } from "../../../../shared/node/stats/cgroup-figures.js";
import type { FsFigures } from "../../../../shared/node/stats/fs-figures.js";
import type { InterfaceFigures } from "../../../../shared/node/stats/net-dev.js";
import type { NetworkFigures } from "../networks.js";
import type { Reading, RuntimeNetwork } from "../readings.js";
import type { CpuStats, FsStats, InterfaceStats, IoStats, MemoryStats, NetworkStats, SwapStats } from "./types.js";

/** The interface whose figures are a pod's, and the node's; others are only listed. */
const DEFAULT_INTERFACE = "eth0";

/** RFC 3339 in whole seconds, as Kubernetes writes times. */
export function timeText(ms: number): string {
  const second = Math.floor(ms / 1000);
  // A summary has a thousand times, of a few seconds.
  if (second !== last.second) last = { second, text: `${new Date(second * 1000).toISOString().slice(0, -5)}Z` };
  return last.text;
}

let last = { second: NaN, text: "" };

export function cpuStats({ at, cpu }: Reading, psi: Pressure | undefined): CpuStats | undefined {
  if (cpu === undefined) return undefined;
  return omitUndefined({
    time: timeText(at),
    usageNanoCores: cpu.rate,
    usageCoreNanoSeconds: cpu.usage,
    psi,
  });
}

/** @param limit bytes; undefined: nothing is shown as available */
export function memoryStats(
  { at, memory }: Reading,
  psi: Pressure | undefined,
  limit = memory?.limit,
): MemoryStats | undefined {
  if (memory === undefined) return undefined;
  return omitUndefined({
    time: timeText(at),
    availableBytes: limit === undefined ? undefined : Math.max(0, limit - memory.workingSet),
    usageBytes: memory.usage,
    workingSetBytes: memory.workingSet,
    rssBytes: memory.rss,
    pageFaults: memory.pageFaults,
    majorPageFaults: memory.majorPageFaults,
    psi,
  });
}

/** @param limit undefined: none is shown */
export function swapStats({ at, memory }: Reading, limit = memory?.swapLimit): SwapStats | undefined {
  if (memory === undefined) return undefined;
  const { swap } = memory satisfies MemoryFigures;
  return omitUndefined({
    time: timeText(at),
    swapAvailableBytes: limit === undefined ? undefined : Math.max(0, limit - swap),
    swapUsageBytes: swap,
  });
}

export function ioStats({ at }: Reading, { io }: Partial<CgroupPressure>): IoStats {
  return omitUndefined({ time: timeText(at), psi: io });
}

export function networkStats({ at, interfaces }: NetworkFigures): NetworkStats {
  const shown = interfaces.map(interfaceStats);
  const main = shown.find(({ name }) => name === DEFAULT_INTERFACE);
  return { time: timeText(at), ...(main ?? { name: "" }), interfaces: shown };
}

export function fsStats(fs: FsFigures): FsStats;
export function fsStats(fs: FsFigures | undefined): FsStats | undefined;
export function fsStats(fs: FsFigures | undefined): FsStats | undefined {
  if (fs === undefined) return undefined;
  const { at, availableBytes, capacityBytes, usedBytes, inodesFree, inodes, inodesUsed } = fs;
  return omitUndefined({
    time: timeText(at),
    availableBytes,
    capacityBytes,
    usedBytes,
    inodesFree,
    inodes,
    inodesUsed,
  });
}

export function networkFromRuntime({ at, main, interfaces }: RuntimeNetwork): NetworkStats {
  return { time: timeText(at), ...(main ?? { name: "" }), interfaces };
}

function interfaceStats({ name, rxBytes, rxErrors, txBytes, txErrors }: InterfaceFigures): InterfaceStats {
  return { name, rxBytes, rxErrors, txBytes, txErrors };
}
