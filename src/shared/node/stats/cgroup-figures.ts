// The usage of one cgroup, for either version of the hierarchy. Bytes, nanoseconds and counts; a limit that is not set
// is absent. Numbers beyond 2^53 lose their last bits. That is a nanosecond after 104 days of one busy core.

import type { ReadText } from "./kernel-file.js";

/** Averages are percentages; total is microseconds. */
export interface PressureData {
  total: number;
  avg10: number;
  avg60: number;
  avg300: number;
}

export interface Pressure {
  full: PressureData;
  some: PressureData;
}

export interface CpuFigures {
  usage: number;
}

export interface MemoryFigures {
  usage: number;
  /** Usage without what can be dropped at once: never below 0. */
  workingSet: number;
  rss: number;
  cache: number;
  mapped: number;
  activeFile: number;
  inactiveFile: number;
  pageFaults: number;
  majorPageFaults: number;
  limit?: number | undefined;
  /** Swap alone, in v2; memory and swap, in v1, as the kernel keeps it. */
  swapLimit?: number | undefined;
  swap: number;
}

/** Values that only the cadvisor page shows. */
export interface DetailFigures {
  /** CPU time of programs, and of the kernel for them. */
  user: number;
  system: number;
  kernelMemory: number;
  maxMemory: number;
  memoryFailures: number;
  memoryReservation?: number | undefined;
  oomEvents: number;
  /** Relative weight as v1 has it: 1024 for one CPU. */
  shares: number;
  /** Microseconds. */
  period: number;
  /** Microseconds per period. */
  quota?: number | undefined;
  periods: number;
  throttledPeriods: number;
  throttled: number;
  burstPeriods: number;
  burst: number;
  threads?: number | undefined;
  threadsMax?: number | undefined;
  block: readonly BlockFigures[];
}

/** By the kernel's names: Read, Write, Sync, Async, Discard, Total; only those that it reports. */
export type Operations = Readonly<Record<string, number>>;

/** An absent value is not counted by the kernel. */
export interface BlockFigures {
  /** "8:0" */
  device: string;
  bytes?: Operations;
  served?: Operations;
  sectors?: Operations;
  /** Nanoseconds. */
  serviceTime?: Operations;
  merged?: Operations;
  queued?: Operations;
  /** Microseconds of the block layer's cost model. */
  cost?: { usage: number; wait: number; indebt: number; indelay: number };
}

export interface CgroupPressure {
  cpu: Pressure;
  memory: Pressure;
  io: Pressure;
}

/** Other ways to read, for frequent readers. */
export interface CgroupReads {
  /** Files that every look reads. */
  often?: ReadText;
  /** Reads files that change only on a write by the kubelet or runtime: limits, shares. */
  settled?: ReadText;
}

/** Paths are below the hierarchy's root: "/kubepods/burstable". Values of a removed cgroup are undefined. */
export interface CgroupReader {
  readonly version: 1 | 2;
  exists(path: string): boolean;
  cpu(path: string): CpuFigures | undefined;
  memory(path: string): MemoryFigures | undefined;
  pressure(path: string): CgroupPressure;
  details(path: string): DetailFigures;
  /** Processes directly in it. */
  processes(path: string): readonly number[];
  /** Names of the cgroups directly below. */
  children(path: string): readonly string[];
  /** A directory of it, for its times. */
  directory(path: string): string;
}
