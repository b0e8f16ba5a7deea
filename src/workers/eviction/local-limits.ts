// Pods that take more of the node's disk than they may: by volume, as a whole, or by container. Pure.
import type { EvictionPod, LocalLimit } from "../../shared/contracts/eviction.js";
import type { PodStorage } from "./pod-storage.js";
import { containerStorageLimit, emptyDirLimit, exceeds, podStorageLimit } from "./messages.js";

export interface Breach {
  limit: LocalLimit;
  message: string;
}

/** @param layersCount Do writable layers count against a container's limit? They do where they are on the kubelet's disk. */
export function breachOf(pod: EvictionPod, storage: PodStorage, layersCount: boolean): Breach | undefined {
  for (const { name, sizeLimit } of pod.volumes) {
    const used = storage.volumes.get(name);
    if (sizeLimit === undefined || sizeLimit.nanos <= 0n || used === undefined) continue;
    if (exceeds(used.bytes, sizeLimit)) return { limit: "emptydirfs.limit", message: emptyDirLimit(name, sizeLimit) };
  }
  const whole = pod.ephemeralStorageLimit;
  if (whole !== undefined && exceeds(storage.total.bytes, whole)) {
    return { limit: "ephemeralpodfs.limit", message: podStorageLimit(whole) };
  }
  for (const { name, limits } of pod.containers) {
    const limit = limits.ephemeralStorage;
    if (limit === undefined || limit.nanos === 0n) continue;
    const { logs = 0, layer = 0 } = storage.containers.get(name) ?? {};
    if (!exceeds(logs + (layersCount ? layer : 0), limit)) continue;
    return { limit: "ephemeralcontainerfs.limit", message: containerStorageLimit(name, limit) };
  }
  return undefined;
}

/** Is anything of this pod limited at all? Others are not measured for limits. */
export function hasLocalLimit(pod: EvictionPod): boolean {
  return pod.volumes.some(({ sizeLimit }) => sizeLimit !== undefined) || hasStorageLimit(pod);
}

/** Does what its containers write count? */
export function hasStorageLimit(pod: EvictionPod): boolean {
  return (
    pod.ephemeralStorageLimit !== undefined ||
    pod.containers.some(({ limits }) => limits.ephemeralStorage !== undefined)
  );
}
