// The Summary of /stats/summary: upstream's names, in upstream's order. Times are RFC 3339; unknown values are absent.

import type { PodUid } from "../../../../shared/kubernetes/identifiers.js";
import type { Pressure } from "../../../../shared/node/stats/cgroup-figures.js";

export interface Summary {
  node: NodeStats;
  pods: PodStats[];
}

export interface NodeStats {
  nodeName: string;
  systemContainers?: ContainerStats[];
  startTime: string;
  cpu?: CpuStats;
  memory?: MemoryStats;
  io?: IoStats;
  network?: NetworkStats;
  fs?: FsStats;
  runtime?: { imageFs?: FsStats; containerFs?: FsStats };
  rlimit?: { time: string; maxpid?: number; curproc?: number };
  swap?: SwapStats;
}

export interface PodStats {
  podRef: { name: string; namespace: string; uid: PodUid };
  startTime: string;
  containers: ContainerStats[];
  cpu?: CpuStats;
  memory?: MemoryStats;
  io?: IoStats;
  network?: NetworkStats;
  volume?: VolumeStats[];
  "ephemeral-storage"?: FsStats;
  process_stats?: { process_count: number };
  swap?: SwapStats;
}

export interface ContainerStats {
  name: string;
  startTime: string;
  cpu?: CpuStats;
  memory?: MemoryStats;
  io?: IoStats;
  rootfs?: FsStats;
  logs?: FsStats;
  swap?: SwapStats;
}

export interface CpuStats {
  time: string;
  usageNanoCores?: number | undefined;
  usageCoreNanoSeconds?: number;
  psi?: Pressure | undefined;
}

export interface MemoryStats {
  time: string;
  /** Limit without working set; absent without a limit. */
  availableBytes?: number | undefined;
  usageBytes?: number;
  workingSetBytes?: number;
  rssBytes?: number;
  pageFaults?: number;
  majorPageFaults?: number;
  psi?: Pressure | undefined;
}

export interface IoStats {
  time: string;
  psi?: Pressure | undefined;
}

export interface InterfaceStats {
  name: string;
  rxBytes?: number | undefined;
  rxErrors?: number | undefined;
  txBytes?: number | undefined;
  txErrors?: number | undefined;
}

export interface NetworkStats extends InterfaceStats {
  time: string;
  interfaces: InterfaceStats[];
}

export interface FsStats {
  time: string;
  availableBytes?: number | undefined;
  capacityBytes?: number | undefined;
  usedBytes?: number | undefined;
  inodesFree?: number | undefined;
  inodes?: number | undefined;
  inodesUsed?: number | undefined;
}

export interface VolumeStats extends FsStats {
  name: string;
  pvcRef?: { name: string; namespace: string };
  volumeHealthStats?: { abnormal: boolean };
}

export interface SwapStats {
  time: string;
  swapAvailableBytes?: number | undefined;
  swapUsageBytes?: number;
}
