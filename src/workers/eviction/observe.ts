// The values of the eviction signals, from one sample of the machine.

import type { EvictionSignal } from "../../shared/kubernetes/api/eviction-threshold.js";
import type { FsFigures } from "../../shared/node/stats/fs-figures.js";
import type { ProcessLimit } from "../../shared/node/stats/machine.js";

/** Bytes, inodes or process ids. */
export interface Observation {
  available: number;
  capacity: number;
  /** Time of the measurement, monotonic ms. */
  at: number;
}

/** Signals that could be read. */
export type Observations = ReadonlyMap<EvictionSignal, Observation>;

/** Bytes. */
export interface MemoryRoom {
  capacity: number;
  workingSet: number;
}

/** undefined: could not be read. */
export interface Sample {
  /** Time of the memory and process samples, monotonic ms. */
  at: number;
  memory: MemoryRoom | undefined;
  /** Memory of the cgroup of all pods; undefined also while it has no limit. */
  allocatable: MemoryRoom | undefined;
  processes: ProcessLimit;
  /** Each with its own time, monotonic ms. */
  nodefs: FsFigures | undefined;
  imagefs: FsFigures | undefined;
  containerfs: FsFigures | undefined;
}

export function observe(sample: Sample): Observations {
  const all = new Map<EvictionSignal, Observation>();
  const { at } = sample;
  const memory = (signal: EvictionSignal, room: MemoryRoom | undefined): void => {
    // A working set above the limit counts as nothing available, not as less.
    if (room === undefined) return;
    const available = Math.max(0, room.capacity - room.workingSet);
    all.set(signal, { available, capacity: available + room.workingSet, at });
  };
  const disk = (place: "nodefs" | "imagefs" | "containerfs", fs: FsFigures | undefined): void => {
    if (fs?.availableBytes !== undefined && fs.capacityBytes !== undefined) {
      all.set(`${place}.available`, { available: fs.availableBytes, capacity: fs.capacityBytes, at: fs.at });
    }
    // File systems that create inodes on demand (btrfs) report none.
    if (fs?.inodesFree !== undefined && (fs.inodes ?? 0) > 0) {
      all.set(`${place}.inodesFree`, { available: fs.inodesFree, capacity: fs.inodes ?? 0, at: fs.at });
    }
  };
  memory("memory.available", sample.memory);
  memory("allocatableMemory.available", sample.allocatable);
  disk("nodefs", sample.nodefs);
  disk("imagefs", sample.imagefs);
  disk("containerfs", sample.containerfs);
  const { max, current } = sample.processes;
  if (max !== undefined && current !== undefined) {
    all.set("pid.available", { available: max - current, capacity: max, at });
  }
  return all;
}
