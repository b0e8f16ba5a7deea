// The pods that the eviction thread receives: admitted and not terminated.
// Invariant: a changed definition gets a new generation only if a field that eviction reads differs. So a label change loses no order.
import { isDeepStrictEqual } from "node:util";
import { type Pod, isSidecar, type Container, type ResourceList } from "../../shared/api/pod.js";
import type { EvictionPod, EvictionAmounts, EvictionContainer } from "../../shared/contracts/eviction.js";
import { parseQuantity, type ExactQuantity } from "../../shared/api/quantity.js";
import { volumePath } from "../../shared/fs/pod-paths.js";
import { isCriticalPod } from "../resources/oom-score.js";
import { podLimits, podRequests } from "../resources/pod-requests.js";
import { qosClass } from "../resources/qos.js";

export interface RunningPod {
  pod: Pod;
  published: EvictionPod;
}

export class RunningPods {
  private readonly pods = new Map<string, RunningPod>();
  private generation = 0;

  constructor(private readonly rootDir: string) {}

  /** The message for the thread; undefined when the thread already has it. @throws InvalidQuantityError */
  set(pod: Pod): EvictionPod | undefined {
    const { uid } = pod.metadata;
    const known = this.pods.get(uid);
    // All that eviction reads is in the spec, and in what never changes of the metadata.
    if (known !== undefined && known.pod.spec === pod.spec) {
      this.pods.set(uid, { pod, published: known.published });
      return undefined;
    }
    const before = known?.published;
    const now = evictionPodOf(pod, this.rootDir);
    const same = before !== undefined && isDeepStrictEqual({ ...now, generation: before.generation }, before);
    const published = same ? before : { ...now, generation: ++this.generation };
    this.pods.set(uid, { pod, published });
    return same ? undefined : published;
  }

  /** @returns false when it was over already */
  remove(uid: string): boolean {
    return this.pods.delete(uid);
  }

  get(uid: string): RunningPod | undefined {
    return this.pods.get(uid);
  }

  all(): EvictionPod[] {
    return [...this.pods.values()].map(({ published }) => published);
  }
}

// A pod as the eviction thread needs to know it. Pure.

const DEFAULT_GRACE_SECONDS = 30;
const STORAGE = "ephemeral-storage";

/** `pod` with the resources that it may use. @throws InvalidQuantityError @internal */
export function evictionPodOf(pod: Pod, rootDir: string): Omit<EvictionPod, "generation"> {
  const { metadata, spec } = pod;
  const limit = podLimits(pod).get(STORAGE);
  const podLevelMemory = spec.resources?.requests?.["memory"];
  return {
    uid: metadata.uid,
    namespace: metadata.namespace,
    name: metadata.name,
    qosClass: qosClass(pod),
    priority: spec.priority ?? 0,
    critical: isCriticalPod(pod),
    graceSeconds: spec.terminationGracePeriodSeconds ?? DEFAULT_GRACE_SECONDS,
    requests: amounts(podRequests(pod)),
    ...(podLevelMemory !== undefined && { podLevelMemory: parseQuantity(podLevelMemory) }),
    ...(limit !== undefined && { ephemeralStorageLimit: limit }),
    containers: [...(spec.initContainers ?? []).filter(isSidecar), ...spec.containers].map(containerOf),
    volumes: volumesOf(pod, rootDir),
  };
}

function containerOf({ name, resources }: Container): EvictionContainer {
  return { name, requests: listed(resources?.requests), limits: listed(resources?.limits) };
}

function listed(list: ResourceList = {}): EvictionAmounts {
  return amounts(new Map(Object.entries(list).map(([name, quantity]) => [name, parseQuantity(quantity)])));
}

function amounts(sums: ReadonlyMap<string, ExactQuantity>): EvictionAmounts {
  const [memory, storage] = [sums.get("memory"), sums.get(STORAGE)];
  return {
    ...(memory !== undefined && { memory }),
    ...(storage !== undefined && { ephemeralStorage: storage }),
  };
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
