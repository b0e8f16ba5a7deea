// Pods whose usage of the node's disk exceeds a limit: of a volume, of the pod, or of a container. Pure.

import type { LocalLimit, EvictionPod } from "../../shared/contracts/eviction.js";
import { exceeds, emptyDirLimit, podStorageLimit, containerStorageLimit } from "./messages.js";
import type { PodStorage } from "./pod-storage.js";

interface Breach {
  limit: LocalLimit;
  message: string;
}

/**
 * @param layersCount Do writable layers count against a container's limit? They do where they are on the kubelet's
 *   disk.
 */
export function breachOf(pod: EvictionPod, storage: PodStorage, layersCount: boolean): Breach | undefined {
  for (const { name, sizeLimit } of pod.volumes) {
    const used = storage.volumes.get(name);
    if (sizeLimit.nanos <= 0n || used === undefined) continue;
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

/** True if the pod has any such limit. Other pods are not measured for limits. */
export function hasLocalLimit(pod: EvictionPod): boolean {
  return pod.volumes.length > 0 || hasStorageLimit(pod);
}

/** True if the writable layers of its containers count. */
export function hasStorageLimit(pod: EvictionPod): boolean {
  return (
    pod.ephemeralStorageLimit !== undefined ||
    pod.containers.some(({ limits }) => limits.ephemeralStorage !== undefined)
  );
}
