// A pod as the eviction thread needs to know it. Pure.

import { omitUndefined } from "../../../shared/base/objects/omit-undefined.js";
import type { EvictionPod, EvictionContainer, EvictionAmounts } from "../../../shared/contracts/eviction.js";
import type { ResourceList } from "../../../shared/kubernetes/api/meta.js";
import { volumePath } from "../../../shared/kubernetes/api/pod-paths.js";
import { podLimits, podRequests } from "../../../shared/kubernetes/api/pod-requests.js";
import { type Pod, isSidecar, type Container } from "../../../shared/kubernetes/api/pod.js";
import { qosClass } from "../../../shared/kubernetes/api/qos.js";
import { parseQuantity, type ExactQuantity } from "../../../shared/kubernetes/api/quantity.js";
import { isCriticalPod } from "../oom-score.js";

const DEFAULT_GRACE_SECONDS = 30;
const STORAGE = "ephemeral-storage";

/** `pod` with the resources that it may use. @throws InvalidQuantityError */
export function evictionPodOf(pod: Pod, rootDir: string): Omit<EvictionPod, "generation"> {
  const { metadata, spec } = pod;
  const limit = podLimits(pod).get(STORAGE);
  const podLevelMemory = spec.resources?.requests?.["memory"];
  return omitUndefined({
    uid: metadata.uid,
    namespace: metadata.namespace,
    name: metadata.name,
    qosClass: qosClass(pod),
    priority: spec.priority ?? 0,
    critical: isCriticalPod(pod),
    graceSeconds: spec.terminationGracePeriodSeconds ?? DEFAULT_GRACE_SECONDS,
    requests: amounts(podRequests(pod)),
    podLevelMemory: podLevelMemory !== undefined ? parseQuantity(podLevelMemory) : undefined,
    ephemeralStorageLimit: limit,
    containers: [...(spec.initContainers ?? []).filter(isSidecar), ...spec.containers].map(containerOf),
    volumes: volumesOf(pod, rootDir),
  });
}

function containerOf({ name, resources }: Container): EvictionContainer {
  return { name, requests: listed(resources?.requests), limits: listed(resources?.limits) };
}

function listed(list: ResourceList = {}): EvictionAmounts {
  return amounts(new Map(Object.entries(list).map(([name, quantity]) => [name, parseQuantity(quantity)])));
}

function amounts(sums: ReadonlyMap<string, ExactQuantity>): EvictionAmounts {
  const [memory, storage] = [sums.get("memory"), sums.get(STORAGE)];
  return omitUndefined({
    memory,
    ephemeralStorage: storage,
  });
}

/**
 * emptyDir and configMap are on the node's disk; other files that the kubelet writes are in memory, as is an emptyDir
 * of that medium.
 */
function volumesOf({ metadata, spec }: Pod, rootDir: string): EvictionPod["volumes"] {
  return (spec.volumes ?? []).flatMap((volume): EvictionPod["volumes"] => {
    const { name, emptyDir, configMap } = volume;
    const path = volumePath(rootDir, metadata.uid, volume);
    if (path === undefined || (emptyDir ?? configMap) === undefined) return [];
    const { medium = "", sizeLimit } = emptyDir ?? {};
    const limit = sizeLimit === undefined ? undefined : parseQuantity(sizeLimit);
    const limited = limit !== undefined && limit.nanos > 0n ? { sizeLimit: limit } : undefined;
    if (medium === "") return [{ name, path, memory: false, ...limited }];
    return medium === "Memory" && limited !== undefined ? [{ name, path, memory: true, ...limited }] : [];
  });
}
