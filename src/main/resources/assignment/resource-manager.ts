// The resource managers, which assign a node's CPUs, memory and devices to containers, as the sync path uses them. Each
// manager returns topology hints, and the topology manager merges all hints into one affinity. Then each manager
// allocates.
// Invariant: a resource granted to a container is granted to no other until it is released; grants survive a restart of
// the kubelet through each manager's own checkpoint; a rejected pod holds nothing.

import type { EventReason } from "../../../shared/kubernetes/api/event-reasons.js";
import type { Container, Pod } from "../../../shared/kubernetes/api/pod.js";
import type { Device, Mount } from "../../../shared/kubernetes/cri/gen/runtime.v1.js";
import type { PodUid, ContainerId } from "../../../shared/kubernetes/identifiers.js";
import type { Refusal } from "../../model/refusal.js";

/** A set of NUMA nodes on which a request could be served. Nodes are sorted. */
export interface TopologyHint {
  nodes: readonly number[];
  /** No smaller set could serve it. */
  preferred: boolean;
}

/**
 * Resource name to the places that could serve it. `undefined`: no preference; `[]`: nowhere, as far as this manager
 * goes. A resource that the container does not request is absent.
 */
export type ResourceHints = ReadonlyMap<string, readonly TopologyHint[] | undefined>;

/**
 * Why an allocation failed: its reason is the pod's. With UnexpectedAdmissionError the message is the cause alone, and
 * the words around it ("Allocate failed due to …, which is unexpected") are put there once for all managers; other
 * reasons bring their whole message.
 */
export class AllocationError extends Error {
  override readonly name = "AllocationError";
  constructor(
    /** The reason in the pod status: "UnexpectedAdmissionError", "SMTAlignmentError". */
    readonly reason: EventReason,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** The resources that one manager grants to one container, beyond the definition. */
export interface ContainerGrant {
  /** Linux list, "0-3,7": linux.resources.cpuset_cpus. */
  cpus?: string | undefined;
  /** Linux list of NUMA nodes: linux.resources.cpuset_mems. */
  memoryNodes?: string | undefined;
  /** It has exclusive CPUs: a quota would only throttle it (DisableCPUQuotaWithExclusiveCPUs). */
  noCpuQuota?: boolean | undefined;
  env?: readonly { name: string; value: string }[] | undefined;
  mounts?: readonly Mount[] | undefined;
  devices?: readonly Device[] | undefined;
  annotations?: Readonly<Record<string, string>> | undefined;
  /** Fully qualified names: "vendor.com/class=name". */
  cdiDevices?: readonly string[] | undefined;
}

/** Memory of one kind on one or several NUMA nodes together. */
export interface MemoryShare {
  /** "memory" or "hugepages-2Mi". */
  type: string;
  /** Bytes. */
  size: bigint;
  nodes: readonly number[];
}

/** Exclusive resources, those of containers and those allocatable, for the pod resources API. */
export interface ExclusiveResources {
  exclusiveCpus(podUid: PodUid, container: string): readonly number[];
  /** Handed out or not, ascending. */
  allocatableCpus(): readonly number[];
  memoryBlocks(podUid: PodUid, container: string): readonly MemoryShare[];
  allocatableMemory(): readonly MemoryShare[];
}

/** One kind of resource: CPUs, memory, devices. */
export interface ResourceManager extends Partial<ExclusiveResources> {
  /** "cpu", "memory", "devices": for logs. */
  readonly kind: string;
  /** Reads its checkpoint. `pods`: those that are known now; what others had is free again. */
  start(pods: () => Iterable<Pod>): Promise<void>;
  hints(pod: Pod, container: Container): ResourceHints;
  /** Hints for the whole pod, for topologyManagerScope pod. */
  podHints(pod: Pod): ResourceHints;
  /**
   * Allocates the container's requests, within `affinity` if given, or holds them for it until `finish`. Idempotent: a
   * container keeps its allocation. Waits for no plugin.
   * @throws AllocationError; or the signal's reason
   */
  allocate(pod: Pod, container: Container, affinity: TopologyHint | undefined, signal: AbortSignal): Promise<void>;
  /** What it holds for the pod is allocated only when a plugin agrees. */
  awaitsPlugin?(podUid: PodUid): boolean;
  /**
   * Allocates what it holds for the pod. Other pods are admitted meanwhile.
   * @throws AllocationError; or the signal's reason
   */
  finish?(pod: Pod, signal: AbortSignal): Promise<void>;
  /** Frees the resources that are held for a refused pod and not allocated. */
  cancel?(podUid: PodUid): void;
  /**
   * Before each grant: allocates requests of an admitted pod's container that have no entry, if that is safe.
   * @throws AllocationError when the container must not start without it; or the signal's reason
   */
  ensure?(pod: Pod, container: Container, signal: AbortSignal): Promise<void>;
  /** The grant with which the container is created; makes no calls and does not wait. */
  grant(pod: Pod, container: Container): ContainerGrant;
  /** Just before StartContainer; rejects when the container must not start. */
  preStart?(pod: Pod, container: Container, signal: AbortSignal): Promise<void>;
  /** The container runs: the manager may correct it from now on. */
  started?(pod: Pod, container: Container, containerId: ContainerId): void;
  /** The pod has terminated: frees its resources. Idempotent. */
  release(podUid: PodUid): void;
  stop(): Promise<void>;
}

/** All of them, as the sync path uses them. */
export interface ResourceManagers extends ExclusiveResources {
  /** The configured managers read their state files. Called before the first admit. `pods`: those that may run. */
  start(pods: () => Iterable<Pod>): Promise<void>;
  /** Makes those that wait for a pod that wants them. Idempotent. */
  loadAll(): Promise<void>;
  /**
   * undefined: the pod has its resources, or they are held for it until `finish`. Called for a pod once, before it may
   * run; again after a restart of the kubelet.
   */
  admit(pod: Pod, signal: AbortSignal): Promise<Refusal | undefined>;
  /** After `admit`: `finish` is to be called, and may take long. */
  awaitsPlugin(podUid: PodUid): boolean;
  /** undefined: the pod has its resources. Other pods may be admitted meanwhile. */
  finish(pod: Pod, signal: AbortSignal): Promise<Refusal | undefined>;
  /**
   * Another admit handler refused the pod after `admit`: its new allocation is free, an earlier one stays until
   * release.
   */
  refused(podUid: PodUid): void;
  /** Before each grant. Rejects when the container must not start. */
  ensure(pod: Pod, container: Container, signal: AbortSignal): Promise<void>;
  /** All grants joined. */
  grant(pod: Pod, container: Container): ContainerGrant;
  /** A container of the pod has exclusive CPUs and needs no quota: neither does the pod's cgroup. */
  noCpuQuota(pod: Pod): boolean;
  preStart(pod: Pod, container: Container, signal: AbortSignal): Promise<void>;
  started(pod: Pod, container: Container, containerId: ContainerId): void;
  /** Nothing of the pod runs, or it was never admitted. Idempotent. */
  release(podUid: PodUid): void;
  stop(): Promise<void>;
}
