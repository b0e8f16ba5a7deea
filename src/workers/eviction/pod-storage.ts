// A pod's usage of the node's disks, from main's walks and the runtime's figures of writable layers. Pure.

import type { EvictionPod, PodDiskUsage } from "../../shared/contracts/eviction.js";
import type { Measured } from "./layout.js";

/** Bytes and inodes. */
export interface Taken {
  bytes: number;
  inodes: number;
}

/** By container name. */
export type Layers = ReadonlyMap<string, Taken>;

export interface PodStorage {
  /** By volume name; includes memory-backed volumes. */
  volumes: ReadonlyMap<string, Taken>;
  /** Bytes, by container name. */
  containers: ReadonlyMap<string, { logs: number; layer: number }>;
  /** On disks: volumes, logs, writable layers, and the pod's other files. */
  total: Taken;
}

export function storageOf(
  pod: EvictionPod,
  disk: PodDiskUsage | undefined,
  layers: Layers | undefined,
  inMemory: ReadonlyMap<string, number> = new Map(),
): PodStorage {
  const volumes = new Map<string, Taken>();
  for (const { name, bytes, inodes } of disk?.volumes ?? []) volumes.set(name, { bytes, inodes });
  for (const [name, bytes] of inMemory) volumes.set(name, { bytes, inodes: 0 });
  const containers = new Map<string, { logs: number; layer: number }>();
  const logs = new Map<string, number>();
  for (const { container, bytes } of disk?.logs ?? []) logs.set(container, (logs.get(container) ?? 0) + bytes);
  for (const { name } of pod.containers) {
    containers.set(name, { logs: logs.get(name) ?? 0, layer: layers?.get(name)?.bytes ?? 0 });
  }
  const files = partsOf(pod, disk, layers, { layers: true, logs: true, volumes: true });
  return { volumes, containers, total: files };
}

/** The pod's usage of the disk that holds these parts. */
export function partsOf(
  pod: EvictionPod,
  disk: PodDiskUsage | undefined,
  layers: Layers | undefined,
  parts: Measured,
): Taken {
  const inMemory = new Set(pod.volumes.filter(({ memory }) => memory).map(({ name }) => name));
  const taken: Taken[] = [];
  if (parts.volumes && disk !== undefined) {
    // As upstream, volumes that take nothing of the node's disk do not count, whether they have a limit or not.
    taken.push(...disk.volumes.filter(({ name, apart }) => apart !== true && !inMemory.has(name)), disk.other);
  }
  if (parts.logs) taken.push(...(disk?.logs ?? []));
  if (parts.layers) taken.push(...(layers?.values() ?? []));
  return taken.reduce((sum, { bytes, inodes }) => ({ bytes: sum.bytes + bytes, inodes: sum.inodes + inodes }), {
    bytes: 0,
    inodes: 0,
  });
}
