// Memory manager, policy Static: the memory of Guaranteed pods' containers is set aside on NUMA nodes, and they run on those
// nodes' memory only. Others use any node. Pods with pod-level resources are left out, as upstream does without the gate
// PodLevelResourceManagers.
import { printCpuList } from "../../../shared/api/cpu-list.js";
import type { Container, Pod } from "../../../shared/api/pod.js";
import { value } from "../../../shared/api/quantity.js";
import type { Clock } from "../../../shared/clock/clock.js";
import { errorText } from "../../../shared/log/error-text.js";
import type { Logger } from "../../../shared/log/logger.js";
import type { MemoryManagerMetrics } from "./metrics.js";
import {
  AllocationError,
  type ContainerGrant,
  type MemoryShare,
  type ResourceHints,
  type ResourceManager,
  type TopologyHint,
} from "../managers/port.js";
import { UnknownHolders } from "../managers/unknown-holders.js";
import { hasPodLevelResources, podRequests } from "../pod-requests.js";
import { qosClass } from "../qos.js";
import type { MachineTopology } from "../topology/machine-topology.js";
import { emptyMemory, sameNodes, type MachineMemory, type MemoryBlock } from "./machine-memory.js";
import { HeldMemory } from "./memory-assignments.js";
import { choosePlace, memoryHints, reuse, type MemoryRequests, type Reusable } from "./place-memory.js";
import { reservedMemory, type ReservationSettings } from "./reserved-memory.js";
import { containersOf } from "../../../shared/api/pod-containers.js";

export interface MemoryManagerSettings extends ReservationSettings {
  rootDir: string;
}

export interface MemoryManagerDeps {
  /** UIDs of pods of which a sandbox or container runs. */
  runningPods: () => Iterable<string>;
  metrics: MemoryManagerMetrics;
  clock: Clock;
  log: Logger;
}

export class MemoryManager implements ResourceManager {
  readonly kind = "memory";
  private readonly empty: MachineMemory;
  private readonly held: HeldMemory;
  private pods: () => Iterable<Pod> = () => [];
  private swept = false;
  /** Set when a state of this node was damaged. */
  private unknown: UnknownHolders | undefined;

  /** @throws MemoryReservationError */
  constructor(
    settings: MemoryManagerSettings,
    machine: MachineTopology,
    private readonly deps: MemoryManagerDeps,
  ) {
    this.empty = emptyMemory(machine, reservedMemory(settings, machine));
    this.held = new HeldMemory(settings.rootDir, this.empty, deps.clock, deps.log);
  }

  /** Rejects with MemoryStateError when pods hold memory that the machine no longer has. */
  async start(pods: () => Iterable<Pod>): Promise<void> {
    this.pods = pods;
    const lost = await this.held.load(new Set([...pods()].map(({ metadata }) => metadata.uid)));
    if (lost === undefined) return;
    const { runningPods } = this.deps;
    const has = (uid: string): boolean => this.held.has(uid);
    this.unknown = new UnknownHolders({ lost, file: "memory manager state", pods, runningPods, has });
  }

  hints(pod: Pod, container: Container): ResourceHints {
    this.sweep(pod);
    if (!isServed(pod) || this.runsUnknown(pod)) return NO_HINTS;
    const had = this.held.blocks(pod.metadata.uid, container.name);
    if (had !== undefined) return sameAgain(had);
    return this.places(requestsOf(Object.entries(container.resources?.requests ?? {})), this.reusable(pod, container));
  }

  podHints(pod: Pod): ResourceHints {
    this.sweep(pod);
    if (!isServed(pod) || this.runsUnknown(pod)) return NO_HINTS;
    for (const { name } of containersOf(pod.spec)) {
      const had = this.held.blocks(pod.metadata.uid, name);
      if (had !== undefined) return sameAgain(had);
    }
    const requests = requestsOf(podRequests(pod, { excludeOverhead: true, skipPodLevel: true }));
    return this.places(requests, () => 0n);
  }

  async allocate(pod: Pod, container: Container, affinity: TopologyHint | undefined): Promise<void> {
    this.sweep(pod);
    if (!isServed(pod)) return;
    const { metrics } = this.deps;
    metrics.requested();
    const { uid } = pod.metadata;
    if (this.held.blocks(uid, container.name) !== undefined || this.runsUnknown(pod)) return;
    const problem = this.unknown?.problem("memory", uid, (other) => this.isUnknown(other));
    if (problem !== undefined) {
      metrics.failed();
      throw new AllocationError(UNEXPECTED, problem);
    }
    const requests = requestsOf(Object.entries(container.resources?.requests ?? {}));
    let nodes: readonly number[];
    try {
      nodes = choosePlace(this.held.machine(), requests, affinity, this.reusable(pod, container));
    } catch (error) {
      metrics.failed();
      throw error;
    }
    const blocks = [...requests].map(([type, size]): MemoryBlock => ({ numaAffinity: nodes, type, size }));
    const before = this.endedBefore(pod, container);
    const shrunk = reuse([...before.values()], blocks);
    const names = [...before.keys()];
    const changed = shrunk.map((rest, index) => [names[index] ?? "", rest] as const);
    try {
      await this.held.hold(uid, new Map([...changed, [container.name, blocks]]));
    } catch (error) {
      metrics.failed();
      throw new AllocationError(UNEXPECTED, errorText(error), { cause: error });
    }
  }

  ensure(pod: Pod, { name }: Container): Promise<void> {
    if (this.unknown === undefined || !isServed(pod)) return Promise.resolve();
    const isOfPod = containersOf(pod.spec).some((container) => container.name === name);
    if (!isOfPod || this.held.blocks(pod.metadata.uid, name) !== undefined) return Promise.resolve();
    return Promise.reject(new AllocationError(UNEXPECTED, this.unknown.ownProblem("memory", name)));
  }

  grant(pod: Pod, container: Container): ContainerGrant {
    const blocks = this.held.blocks(pod.metadata.uid, container.name) ?? [];
    if (blocks.length === 0) return {};
    return { memoryNodes: printCpuList(blocks.flatMap(({ numaAffinity }) => numaAffinity)) };
  }

  release(podUid: string): void {
    this.held.release(podUid);
  }

  async stop(): Promise<void> {
    await this.held.flush();
  }

  memoryBlocks(podUid: string, container: string): MemoryShare[] {
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
    return isServed(pod) && containersOf(pod.spec).some(({ name }) => this.held.blocks(uid, name) === undefined);
  }

  /** It keeps the memory that it has, wherever that is. */
  private runsUnknown(pod: Pod): boolean {
    if (this.unknown === undefined || !this.isUnknown(pod)) return false;
    return [...this.deps.runningPods()].includes(pod.metadata.uid);
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

function isServed(pod: Pod): boolean {
  return qosClass(pod) === "Guaranteed" && !hasPodLevelResources(pod);
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
