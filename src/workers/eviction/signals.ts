// The eviction signals: the resource that messages name, and the node condition.

import type { Pressure } from "../../shared/contracts/node-status.js";
import type { EvictionSignal } from "../../shared/kubernetes/api/eviction-threshold.js";

export type Resource = "memory" | "ephemeral-storage" | "inodes" | "pids";
/** Which measure of the machine: the disks are those of the kubelet, of images, of containers' writable layers. */
type Place = "memory" | "nodefs" | "imagefs" | "containerfs" | "pids";

interface SignalFacts {
  readonly resource: Resource;
  readonly pressure: Pressure;
  readonly place: Place;
}

const memory: SignalFacts = { resource: "memory", pressure: "MemoryPressure", place: "memory" };
const bytesOf = (place: Place): SignalFacts => ({ resource: "ephemeral-storage", pressure: "DiskPressure", place });
const inodesOf = (place: Place): SignalFacts => ({ resource: "inodes", pressure: "DiskPressure", place });

export const SIGNAL_FACTS: Readonly<Record<EvictionSignal, SignalFacts>> = {
  "memory.available": memory,
  "allocatableMemory.available": memory,
  "nodefs.available": bytesOf("nodefs"),
  "nodefs.inodesFree": inodesOf("nodefs"),
  "imagefs.available": bytesOf("imagefs"),
  "imagefs.inodesFree": inodesOf("imagefs"),
  "containerfs.available": bytesOf("containerfs"),
  "containerfs.inodesFree": inodesOf("containerfs"),
  "pid.available": { resource: "pids", pressure: "PIDPressure", place: "pids" },
};

export const isMemory = (signal: EvictionSignal): boolean => SIGNAL_FACTS[signal].place === "memory";
export const isDisk = (signal: EvictionSignal): boolean => SIGNAL_FACTS[signal].pressure === "DiskPressure";
