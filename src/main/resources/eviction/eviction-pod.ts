// A pod as the eviction thread needs to know it. Pure.

import { omitUndefined } from "../../../shared/base/objects/omit-undefined.js";
import type { EvictionPod, EvictionContainer, EvictionAmounts } from "../../../shared/contracts/eviction.js";
import type { ResourceList } from "../../../shared/kubernetes/api/meta.js";
import { volumePath } from "../../../shared/kubernetes/api/pod-paths.js";
import { hasPodLevelResources, podLimits, podRequests } from "../../../shared/kubernetes/api/pod-requests.js";
import type { Container, Pod } from "../../../shared/kubernetes/api/pod.js";
import { qosClass } from "../../../shared/kubernetes/api/qos.js";
import { addQuantities, parseQuantity, type ExactQuantity } from "../../../shared/kubernetes/api/quantity.js";
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
    requests: amounts(rankedRequests(pod)),
    podLevelMemory: podLevelMemory !== undefined ? parseQuantity(podLevelMemory) : undefined,
    ephemeralStorageLimit: limit,
    containers: [
      // Upstream holds init containers, sidecars among them, only to the pod's limits.
      ...(spec.initContainers ?? []).map((container) => ({ ...containerOf(container), limits: {} })),
      ...spec.containers.map(containerOf),
    ],
    volumes: volumesOf(pod, rootDir),
  });
}

/**
 * The requests that upstream ranks by (GetResourceRequestQuantity): with pod-level resources those alone, and the
 * overhead only on top of a request above zero.
 */
function rankedRequests(pod: Pod): ReadonlyMap<string, ExactQuantity> {
  const requests = new Map(podRequests(pod, { excludeOverhead: true }));
  const own = hasPodLevelResources(pod) ? (pod.spec.resources?.requests ?? {}) : undefined;
  for (const [name, sum] of requests) {
    const overhead = pod.spec.overhead?.[name];
    if (own !== undefined && own[name] === undefined) requests.delete(name);
    else if (overhead !== undefined && sum.nanos !== 0n) requests.set(name, addQuantities(sum, overhead));
  }
  return requests;
}

function containerOf({ name, resources }: Container): EvictionContainer {
  return { name, requests: listed(resources?.requests), limits: listed(resources?.limits) };
}

/** Admission has read all quantities: here are the two that eviction needs of a list of any length. */
function listed(list: ResourceList = {}): EvictionAmounts {
  const { memory, [STORAGE]: storage } = list;
  return omitUndefined({
    memory: memory === undefined ? undefined : parseQuantity(memory),
    ephemeralStorage: storage === undefined ? undefined : parseQuantity(storage),
  });
}

function amounts(sums: ReadonlyMap<string, ExactQuantity>): EvictionAmounts {
  const [memory, storage] = [sums.get("memory"), sums.get(STORAGE)];
  return omitUndefined({
    memory,
    ephemeralStorage: storage,
  });
}

/**
 * Volumes with a limit of their own, on the node's disk or in memory. Others count with the pod's directory, or not at
 * all: a pod may have tens of thousands.
 */
function volumesOf({ metadata, spec }: Pod, rootDir: string): EvictionPod["volumes"] {
  return (spec.volumes ?? []).flatMap((volume): EvictionPod["volumes"] => {
    const { medium = "", sizeLimit } = volume.emptyDir ?? {};
    const limit = sizeLimit === undefined ? undefined : parseQuantity(sizeLimit);
    if (limit === undefined || limit.nanos <= 0n || (medium !== "" && medium !== "Memory")) return [];
    const path = volumePath(rootDir, metadata.uid, volume);
    if (path === undefined) return [];
    return [{ name: volume.name, path, memory: medium === "Memory", sizeLimit: limit }];
  });
}
