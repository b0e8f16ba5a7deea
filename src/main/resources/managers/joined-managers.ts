// All resource managers of the node as one. They allocate for the containers of a pod in order, all or nothing.
// Invariant: a manager that no pod needs is never created; a refused pod keeps nothing that it got in that call. It
// keeps earlier resources until it has terminated: an earlier kubelet process admitted it, so it may run.

import type { Clock } from "../../../shared/base/clock/clock.js";
import { omitUndefined } from "../../../shared/base/objects/omit-undefined.js";
import { LoopShare } from "../../../shared/base/turns/loop-share.js";
import { containersOf } from "../../../shared/kubernetes/api/pod-containers.js";
import { hasPodLevelResources } from "../../../shared/kubernetes/api/pod-requests.js";
import { type Container, type Pod } from "../../../shared/kubernetes/api/pod.js";
import type { PodUid, ContainerId } from "../../../shared/kubernetes/identifiers.js";
import { errorText } from "../../../shared/telemetry/log/error-text.js";
import type { Refusal } from "../../model/refusal.js";
import {
  AllocationError,
  type ContainerGrant,
  type MemoryShare,
  type ResourceManager,
  type ResourceManagers,
  type TopologyHint,
} from "../assignment/resource-manager.js";
import type { TopologyMetrics } from "../topology/metrics.js";
import type { TopologyPolicy } from "../topology/policy.js";

/** Containers that are looked at between two turns of main's event loop: a pod may have ten thousand. */
const AT_ONCE = 64;

/** The constructor of one manager and the condition for its creation. */
export interface ManagerSource {
  readonly kind: string;
  /** Made when this is true of a pod that is admitted, or when all are loaded; absent: made when the kubelet starts. */
  wanted?(pod: Pod): boolean;
  make(): Promise<ResourceManager>;
}

export interface JoinedManagersDeps {
  /** In the order of their calls. */
  sources: readonly ManagerSource[];
  /** Absent: policy none. @throws what keeps the kubelet from starting */
  topology?: (() => Promise<TopologyPolicy>) | undefined;
  /** Gate of that name. */
  podLevelResourceManagers: boolean;
  metrics: TopologyMetrics;
  clock: Pick<Clock, "monotonic">;
}

interface Unfinished {
  /** Monotonic ms. */
  begun: number;
  /** Containers, or the pod, whose resources will be aligned. */
  aligned: number;
}

export class JoinedManagers implements ResourceManagers {
  /** Those that are there, in the order of their sources. */
  private managers: readonly ResourceManager[] = [];
  private readonly made = new Map<ManagerSource, ResourceManager>();
  private readonly making = new Map<ManagerSource, Promise<void>>();
  /** Pods that an earlier kubelet process admitted and that have not terminated. */
  private readonly earlier = new Set<PodUid>();
  /** Pods for which a plugin has to agree. */
  private readonly unfinished = new Map<PodUid, Unfinished>();
  private pods: () => Iterable<Pod> = () => [];
  private topology: TopologyPolicy | undefined;
  private readonly loop: LoopShare;

  constructor(private readonly deps: JoinedManagersDeps) {
    this.loop = new LoopShare(deps.clock);
  }

  async start(pods: () => Iterable<Pod>): Promise<void> {
    const { sources, topology } = this.deps;
    this.pods = pods;
    for (const { metadata } of pods()) this.earlier.add(metadata.uid);
    if (topology !== undefined) this.topology = await topology();
    try {
      await this.load(sources.filter((source) => source.wanted === undefined));
    } catch (error) {
      // The kubelet does not start: those that were made are stopped here.
      await this.stop();
      throw error;
    }
  }

  async loadAll(): Promise<void> {
    await this.load(this.deps.sources);
  }

  async admit(pod: Pod, signal: AbortSignal): Promise<Refusal | undefined> {
    const { clock, metrics, sources } = this.deps;
    const { uid } = pod.metadata;
    metrics.requested();
    const begun = clock.monotonic();
    let isUnfinished = false;
    try {
      await this.load(sources.filter((source) => source.wanted?.(pod) === true));
      const { refusal, aligned } = this.managers.length === 0 ? NOTHING_TO_DO : await this.allocate(pod, signal);
      isUnfinished = refusal === undefined && this.managers.some((manager) => manager.awaitsPlugin?.(uid) === true);
      if (isUnfinished) this.unfinished.set(uid, { begun, aligned });
      else this.countAligned(aligned);
      if (refusal !== undefined) this.refused(uid);
      return refusal;
    } catch (error) {
      // Aborted: the next call starts again.
      this.refused(uid);
      throw error;
    } finally {
      if (!isUnfinished) metrics.took(clock.monotonic() - begun);
    }
  }

  awaitsPlugin(podUid: PodUid): boolean {
    return this.unfinished.has(podUid);
  }

  async finish(pod: Pod, signal: AbortSignal): Promise<Refusal | undefined> {
    const { clock, metrics } = this.deps;
    const { uid } = pod.metadata;
    const { begun, aligned } = this.unfinished.get(uid) ?? { begun: clock.monotonic(), aligned: 0 };
    try {
      for (const manager of this.managers) await manager.finish?.(pod, signal);
      this.countAligned(aligned);
      return undefined;
    } catch (error) {
      this.refused(uid);
      signal.throwIfAborted();
      if (this.topology !== undefined) metrics.failed();
      return refusalOf(error);
    } finally {
      this.unfinished.delete(uid);
      metrics.took(clock.monotonic() - begun);
    }
  }

  refused(podUid: PodUid): void {
    this.unfinished.delete(podUid);
    for (const manager of this.managers) manager.cancel?.(podUid);
    if (!this.earlier.has(podUid)) this.release(podUid);
  }

  async ensure(pod: Pod, container: Container, signal: AbortSignal): Promise<void> {
    for (const manager of this.managers) await manager.ensure?.(pod, container, signal);
  }

  grant(pod: Pod, container: Container): ContainerGrant {
    return joinGrants(this.managers.map((manager) => manager.grant(pod, container)));
  }

  noCpuQuota(pod: Pod): boolean {
    return containersOf(pod.spec).some((container) =>
      this.managers.some((manager) => manager.grant(pod, container).noCpuQuota === true),
    );
  }

  async preStart(pod: Pod, container: Container, signal: AbortSignal): Promise<void> {
    for (const manager of this.managers) await manager.preStart?.(pod, container, signal);
  }

  started(pod: Pod, container: Container, containerId: ContainerId): void {
    for (const manager of this.managers) manager.started?.(pod, container, containerId);
  }

  release(podUid: PodUid): void {
    this.earlier.delete(podUid);
    this.unfinished.delete(podUid);
    for (const manager of this.managers) manager.release(podUid);
  }

  exclusiveCpus(podUid: PodUid, container: string): readonly number[] {
    return this.managers.flatMap((manager) => manager.exclusiveCpus?.(podUid, container) ?? []);
  }

  allocatableCpus(): readonly number[] {
    return this.managers.flatMap((manager) => manager.allocatableCpus?.() ?? []);
  }

  memoryBlocks(podUid: PodUid, container: string): readonly MemoryShare[] {
    return this.managers.flatMap((manager) => manager.memoryBlocks?.(podUid, container) ?? []);
  }

  allocatableMemory(): readonly MemoryShare[] {
    return this.managers.flatMap((manager) => manager.allocatableMemory?.() ?? []);
  }

  async stop(): Promise<void> {
    await Promise.allSettled(this.making.values());
    await Promise.all(this.managers.map((manager) => manager.stop()));
  }

  private async load(sources: readonly ManagerSource[]): Promise<void> {
    await Promise.all(
      sources.map((source) => {
        const making = this.making.get(source) ?? this.make(source);
        this.making.set(source, making);
        return making;
      }),
    );
  }

  private async make(source: ManagerSource): Promise<void> {
    try {
      const manager = await source.make();
      await manager.start(this.pods);
      this.made.set(source, manager);
      this.managers = this.deps.sources.flatMap((one) => this.made.get(one) ?? []);
    } catch (error) {
      // The next caller tries again.
      this.making.delete(source);
      throw error;
    }
  }

  private countAligned(count: number): void {
    if (this.topology === undefined) return;
    for (let left = count; left > 0; left--) this.deps.metrics.aligned(this.topology.scope);
  }

  private async allocate(pod: Pod, signal: AbortSignal): Promise<Allocated> {
    const { metrics } = this.deps;
    let aligned = 0;
    const { managers, topology } = this;
    const scope = topology?.scope;
    const ofPod = topology !== undefined && scope === "pod" ? this.place(topology, pod) : undefined;
    for (const [at, container] of containersOf(pod.spec).entries()) {
      if (at % AT_ONCE === AT_ONCE - 1) await this.loop.turn();
      let affinity: TopologyHint | undefined;
      if (topology !== undefined) {
        const place = ofPod ?? this.place(topology, pod, container);
        if (!place.admit) {
          metrics.failed();
          if (topology.aligns) metrics.notAligned(topology.scope);
          return { refusal: { reason: "TopologyAffinityError", message: this.noPlace(topology, pod) }, aligned };
        }
        affinity = place.affinity;
      }
      try {
        for (const manager of managers) await manager.allocate(pod, container, affinity, signal);
      } catch (error) {
        signal.throwIfAborted();
        if (topology !== undefined) metrics.failed();
        return { refusal: refusalOf(error), aligned };
      }
      if (topology?.aligns === true && ofPod === undefined) aligned++;
    }
    if (topology?.aligns === true && ofPod !== undefined) aligned++;
    return { refusal: undefined, aligned };
  }

  private noPlace({ scope }: TopologyPolicy, pod: Pod): string {
    if (!this.deps.podLevelResourceManagers || !hasPodLevelResources(pod)) return NO_PLACE;
    return `Pod Scope pod with pod-level resources failed admission ${scope === "pod" ? "under pod-scope" : "with a container-level"} topology manager`;
  }

  private place(topology: TopologyPolicy, pod: Pod, container?: Container): ReturnType<TopologyPolicy["choose"]> {
    return topology.choose(
      this.managers.map((manager) => (container === undefined ? manager.podHints(pod) : manager.hints(pod, container))),
    );
  }
}

interface Allocated {
  refusal: Refusal | undefined;
  /** Containers, or the pod, whose resources lie within one NUMA node. */
  aligned: number;
}

const NOTHING_TO_DO: Allocated = { refusal: undefined, aligned: 0 };
const NO_PLACE = "Resources cannot be allocated with Topology locality";
const UNEXPECTED = "UnexpectedAdmissionError";

function refusalOf(error: unknown): Refusal {
  if (error instanceof AllocationError && error.reason !== UNEXPECTED) {
    return { reason: error.reason, message: error.message };
  }
  const cause = error instanceof AllocationError ? error.message : errorText(error);
  return { reason: UNEXPECTED, message: `Allocate failed due to ${cause}, which is unexpected` };
}

/**
 * Joins the grants of several resource managers to one container into one. Each field belongs to one manager.
 * If two set the same environment variable or annotation, the manager that comes first wins.
 * @internal
 */
export function joinGrants(grants: readonly ContainerGrant[]): ContainerGrant {
  const [only] = grants;
  if (only === undefined) return {};
  if (grants.length === 1) return only;
  const first = <T>(read: (grant: ContainerGrant) => T | undefined): T | undefined =>
    grants.map(read).find((value) => value !== undefined);
  const all = <T>(read: (grant: ContainerGrant) => readonly T[] | undefined): T[] =>
    grants.flatMap((grant) => read(grant) ?? []);
  const cpus = first(({ cpus }) => cpus);
  const memoryNodes = first(({ memoryNodes }) => memoryNodes);
  const env = new Map<string, string>();
  for (const { name, value } of all(({ env }) => env)) if (!env.has(name)) env.set(name, value);
  const [mounts, devices] = [all(({ mounts }) => mounts), all(({ devices }) => devices)];
  const cdiDevices = [...new Set(all(({ cdiDevices }) => cdiDevices))];
  const annotations = Object.assign({}, ...grants.map(({ annotations }) => annotations ?? {}).toReversed()) as Record<
    string,
    string
  >;
  return omitUndefined({
    cpus,
    memoryNodes,
    noCpuQuota: grants.some(({ noCpuQuota }) => noCpuQuota === true) ? true : undefined,
    env: env.size > 0 ? [...env].map(([name, value]) => ({ name, value })) : undefined,
    mounts: mounts.length > 0 ? mounts : undefined,
    devices: devices.length > 0 ? devices : undefined,
    annotations: Object.keys(annotations).length > 0 ? annotations : undefined,
    cdiDevices: cdiDevices.length > 0 ? cdiDevices : undefined,
  });
}
