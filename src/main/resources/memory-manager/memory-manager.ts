// Memory manager, policy Static. It reserves memory on NUMA nodes for the containers of Guaranteed pods, which use only
// those nodes. Others use any node. Pods with pod-level resources are left out without the gate
// PodLevelResourceManagers; with it, their Guaranteed containers get memory, or the pod gets it as a whole (scope pod).

import type { Clock } from "../../../shared/base/clock/clock.js";
import { printCpuList } from "../../../shared/kubernetes/api/cpu-list.js";
import { containerNamed } from "../../../shared/kubernetes/api/per-spec.js";
import { containersOf } from "../../../shared/kubernetes/api/pod-containers.js";
import { hasPodLevelResources, podRequests } from "../../../shared/kubernetes/api/pod-requests.js";
import { type Container, type Pod } from "../../../shared/kubernetes/api/pod.js";
import { qosClass } from "../../../shared/kubernetes/api/qos.js";
import { value } from "../../../shared/kubernetes/api/quantity.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import { errorText } from "../../../shared/telemetry/log/error-text.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import {
  isGuaranteedByItself,
  podLevelMode,
  type PodLevelMetrics,
  type PodLevelMode,
  type PodLevelSettings,
} from "../assignment/pod-level.js";
import {
  AllocationError,
  type ContainerGrant,
  type MemoryShare,
  type ResourceHints,
  type ResourceManager,
  type TopologyHint,
} from "../assignment/resource-manager.js";
import { UnknownHolders } from "../assignment/unknown-holders.js";
import type { MachineTopology } from "../topology/machine-topology.js";
import { emptyMemory, sameNodes, type MachineMemory, type MemoryBlock } from "./machine-memory.js";
import { HeldMemory } from "./memory-assignments.js";
import type { MemoryManagerMetrics } from "./metrics.js";
import { choosePlace, memoryHints, reuse, type MemoryRequests, type Reusable } from "./place-memory.js";
import { blocksOf, divideMemory, podMemoryProblem, type MemoryWanted } from "./pod-memory.js";
import { reservedMemory, type ReservationSettings } from "./reserved-memory.js";

export interface MemoryManagerSettings extends ReservationSettings, PodLevelSettings {
  rootDir: string;
}

export interface MemoryManagerDeps {
  /** Pods of which a sandbox or container runs. */
  runningPods: () => Iterable<PodUid>;
  metrics: MemoryManagerMetrics;
  podLevelMetrics: PodLevelMetrics;
  clock: Clock;
  log: Logger;
}

export class MemoryManager implements ResourceManager {
  readonly kind = "memory";
  private readonly empty: MachineMemory;
  private readonly held: HeldMemory;
  private pods: () => Iterable<Pod> = () => [];
  private swept = false;
  private readonly podLevel: PodLevelMode;
  /** Set when a state of this node was damaged. */
  private unknown: UnknownHolders | undefined;

  /** @throws OperatorError */
  constructor(
    settings: MemoryManagerSettings,
    machine: MachineTopology,
    private readonly deps: MemoryManagerDeps,
  ) {
    this.empty = emptyMemory(machine, reservedMemory(settings, machine));
    this.podLevel = podLevelMode(settings);
    const withPods = this.podLevel !== "shared";
    this.held = new HeldMemory(settings.rootDir, this.empty, deps.clock, deps.log, withPods);
  }

  /** Rejects with OperatorError when pods hold memory that the machine no longer has. */
  async start(pods: () => Iterable<Pod>): Promise<void> {
    this.pods = pods;
    const lost = await this.held.load(new Set([...pods()].map(({ metadata }) => metadata.uid)));
    if (lost === undefined) return;
    const { runningPods } = this.deps;
    const has = (uid: PodUid): boolean => this.held.has(uid);
    this.unknown = new UnknownHolders({ lost, file: "memory manager state", pods, runningPods, has });
  }

  hints(pod: Pod, container: Container): ResourceHints {
    this.sweep(pod);
    if (!this.isServed(pod) || this.runsUnknown(pod)) return NO_HINTS;
    const had = this.held.blocks(pod.metadata.uid, container.name);
    if (had !== undefined) return sameAgain(had);
    return this.places(wantedBy(pod, container), this.reusable(pod, container));
  }

  podHints(pod: Pod): ResourceHints {
    this.sweep(pod);
    if (!this.isServed(pod) || this.runsUnknown(pod)) return NO_HINTS;
    if (this.isWhole(pod)) return this.wholeHints(pod);
    for (const { name } of containersOf(pod.spec)) {
      const had = this.held.blocks(pod.metadata.uid, name);
      if (had !== undefined) return sameAgain(had);
    }
    const requests = requestsOf(podRequests(pod, { excludeOverhead: true, skipPodLevel: true }));
    return this.places(requests, () => 0n);
  }

  async allocate(pod: Pod, container: Container, affinity: TopologyHint | undefined): Promise<void> {
    this.sweep(pod);
    if (!this.isServed(pod)) return;
    const { metrics } = this.deps;
    const { uid } = pod.metadata;
    const whole = this.isWhole(pod);
    if (!whole) metrics.requested();
    if (this.held.blocks(uid, container.name) !== undefined || this.runsUnknown(pod)) return;
    try {
      const problem = this.unknown?.problem("memory", uid, (other) => this.isUnknown(other));
      if (problem !== undefined) throw new AllocationError(UNEXPECTED, problem);
      if (whole) await this.allocateWhole(pod, affinity);
      else await this.allocateOne(pod, container, affinity);
    } catch (error) {
      metrics.failed();
      this.deps.podLevelMetrics.failed(whole ? "pod" : "node");
      throw error;
    }
  }

  private async allocateOne(pod: Pod, container: Container, affinity: TopologyHint | undefined): Promise<void> {
    const { podLevelMetrics } = this.deps;
    const requests = wantedBy(pod, container);
    // A container that has no memory of its own in a pod with pod-level resources lies anywhere.
    const reusable = this.reusable(pod, container);
    const nodes = requests.size === 0 ? [] : choosePlace(this.held.machine(), requests, affinity, reusable);
    const blocks = [...requests].map(([type, size]): MemoryBlock => ({ numaAffinity: nodes, type, size }));
    const before = this.endedBefore(pod, container);
    const shrunk = reuse([...before.values()], blocks);
    const names = [...before.keys()];
    const changed = shrunk.map((rest, index) => [names[index] ?? "", rest] as const);
    await this.hold(pod, new Map([...changed, [container.name, blocks]]));
    podLevelMetrics.allocated("node", blocks.length);
    podLevelMetrics.assigned("node_exclusive", 1);
  }

  /** All containers of the pod, with its first one. */
  private async allocateWhole(pod: Pod, affinity: TopologyHint | undefined): Promise<void> {
    const { metrics, podLevelMetrics } = this.deps;
    const total = wantedAtPodLevel(pod);
    const wanted: MemoryWanted = (container) => wantedBy(pod, container);
    metrics.requested();
    const problem = podMemoryProblem(pod, total, wanted);
    if (problem !== undefined) throw new AllocationError("EmptyPodSharedPoolError", problem);
    const nodes = choosePlace(this.held.machine(), total, affinity, () => 0n);
    const { blocks, exclusive } = divideMemory(pod, total, nodes, wanted);
    // As upstream counts them: init containers, and others with memory of their own.
    const inits = pod.spec.initContainers ?? [];
    const apps = pod.spec.containers.filter((container) => wanted(container).size > 0);
    for (let left = inits.length + apps.length; left > 0; left--) metrics.requested();
    await this.hold(pod, blocks, blocksOf(total, nodes));
    podLevelMetrics.allocated("pod", blocks.size);
    podLevelMetrics.assigned("pod_exclusive", exclusive);
    podLevelMetrics.assigned("pod_shared", blocks.size - exclusive);
  }

  private async hold(
    { metadata: { uid } }: Pod,
    containers: ReadonlyMap<string, readonly MemoryBlock[]>,
    whole?: readonly MemoryBlock[],
  ): Promise<void> {
    try {
      await this.held.hold(uid, containers, whole);
    } catch (error) {
      throw new AllocationError(UNEXPECTED, errorText(error), { cause: error });
    }
  }

  ensure(pod: Pod, { name }: Container): Promise<void> {
    if (this.unknown === undefined || !this.isServed(pod)) return Promise.resolve();
    const place = containerNamed(pod.spec, name)?.place ?? "ephemeral";
    if (place === "ephemeral" || this.held.blocks(pod.metadata.uid, name) !== undefined) return Promise.resolve();
    return Promise.reject(new AllocationError(UNEXPECTED, this.unknown.ownProblem("memory", name)));
  }

  grant(pod: Pod, container: Container): ContainerGrant {
    const blocks = this.held.blocks(pod.metadata.uid, container.name) ?? [];
    if (blocks.length === 0) return {};
    return { memoryNodes: printCpuList(blocks.flatMap(({ numaAffinity }) => numaAffinity)) };
  }

  release(podUid: PodUid): void {
    this.held.release(podUid);
  }

  async stop(): Promise<void> {
    await this.held.flush();
  }

  memoryBlocks(podUid: PodUid, container: string): MemoryShare[] {
    return (this.held.blocks(podUid, container) ?? []).map(({ numaAffinity: nodes, type, size }) => ({
      type,
      size,
      nodes,
    }));
  }

  allocatableMemory(): MemoryShare[] {
    return [...this.empty].flatMap(([id, { memoryMap }]) =>
      [...memoryMap].flatMap(([type, { allocatable }]) =>
        allocatable > 0n ? [{ type, size: allocatable, nodes: [id] }] : [],
      ),
    );
  }

  /** Once, when the first pod is admitted: what pods have that ended while no kubelet ran is free. */
  private sweep({ metadata }: Pod): void {
    if (this.swept) return;
    this.swept = true;
    const known = [...this.pods()].map((pod) => pod.metadata.uid);
    const kept = new Set([metadata.uid, ...known, ...this.deps.runningPods()]);
    for (const uid of this.held.uids()) if (!kept.has(uid)) this.release(uid);
  }

  /** The pod requested memory, and no entry has its nodes. */
  private isUnknown(pod: Pod): boolean {
    const { uid } = pod.metadata;
    return this.isServed(pod) && containersOf(pod.spec).some(({ name }) => this.held.blocks(uid, name) === undefined);
  }

  /** It keeps the memory that it has, on any node. */
  private runsUnknown(pod: Pod): boolean {
    if (this.unknown === undefined || !this.isUnknown(pod)) return false;
    return [...this.deps.runningPods()].includes(pod.metadata.uid);
  }

  private isServed(pod: Pod): boolean {
    return qosClass(pod) === "Guaranteed" && (this.podLevel !== "shared" || !hasPodLevelResources(pod));
  }

  private isWhole(pod: Pod): boolean {
    return this.podLevel === "whole" && hasPodLevelResources(pod);
  }

  private wholeHints(pod: Pod): ResourceHints {
    const had = this.held.ofPod(pod.metadata.uid);
    if (had !== undefined) return sameAgain(had);
    const total = wantedAtPodLevel(pod);
    const problem = podMemoryProblem(pod, total, (container) => wantedBy(pod, container));
    // No place at all: the topology manager rejects the pod, except with the policy best-effort.
    return problem === undefined ? this.places(total, () => 0n) : new Map([...total.keys()].map((name) => [name, []]));
  }

  private places(requests: MemoryRequests, reusable: Reusable): ResourceHints {
    const hints = memoryHints(this.held.machine(), requests, reusable);
    // Without hints there is nothing to merge; the allocation then fails and names the missing memory.
    return hints.length === 0 ? NO_HINTS : new Map([...requests.keys()].map((name) => [name, hints]));
  }

  /** Blocks of ordinary init containers before this one: they have ended when it starts. */
  private endedBefore(pod: Pod, container: Container): Map<string, readonly MemoryBlock[]> {
    const ended = new Map<string, readonly MemoryBlock[]>();
    for (const { name, restartPolicy } of pod.spec.initContainers ?? []) {
      if (name === container.name) break;
      const blocks = this.held.blocks(pod.metadata.uid, name);
      if (restartPolicy !== "Always" && blocks !== undefined) ended.set(name, blocks);
    }
    return ended;
  }

  private reusable(pod: Pod, container: Container): Reusable {
    const blocks = [...this.endedBefore(pod, container).values()].flat();
    return (nodes, resource) =>
      blocks.reduce(
        (sum, { type, numaAffinity, size }) => (type === resource && sameNodes(numaAffinity, nodes) ? sum + size : sum),
        0n,
      );
  }
}

const UNEXPECTED = "UnexpectedAdmissionError";
const NO_HINTS: ResourceHints = new Map();

/** The memory that is the container's own; empty in a pod with pod-level resources: it shares. */
function wantedBy(pod: Pod, container: Container): MemoryRequests {
  if (hasPodLevelResources(pod) && !isGuaranteedByItself(container)) return new Map();
  return requestsOf(Object.entries(container.resources?.requests ?? {}));
}

function wantedAtPodLevel({ spec: { resources: { requests, limits } = {} } }: Pod): MemoryRequests {
  return new Map([...requestsOf(Object.entries(requests ?? limits ?? {}))].filter(([, size]) => size > 0n));
}

/** Memory and huge pages, in bytes. */
function requestsOf(list: Iterable<readonly [string, Parameters<typeof value>[0]]>): MemoryRequests {
  const named = [...list].filter(([name]) => name === "memory" || name.startsWith("hugepages-"));
  return new Map(named.map(([name, quantity]) => [name, value(quantity)]));
}

/** The container keeps its memory, on any NUMA node. */
function sameAgain(blocks: readonly MemoryBlock[]): ResourceHints {
  return new Map(blocks.map(({ type, numaAffinity }) => [type, [{ nodes: numaAffinity, preferred: true }]]));
}
