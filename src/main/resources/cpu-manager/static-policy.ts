// The static policy: exclusive CPUs for some containers, the shared pool for the others.
// Invariant: a CPU is one container's alone, but for containers of one pod that never run at the same time; reserved
// CPUs are never exclusive; a container keeps its CPUs until its pod is released.
// Source: https://kubernetes.io/docs/concepts/policy/node-resource-managers/

import { hasPodLevelResources } from "../../../shared/kubernetes/api/pod-requests.js";
import type { Container, Pod } from "../../../shared/kubernetes/api/pod.js";
import type { TopologyHint } from "../assignment/resource-manager.js";
import { common, NO_CPUS, union, without, type CpuSet } from "./cpu-set.js";
import type { CpuTopology } from "./cpu-topology.js";
import { emptyPodPool, notWholeCores, tooFewCores, tooFewCpus } from "./errors.js";
import { cpuHints } from "./hints.js";
import type { StaticOptions } from "./options.js";
import { podPoolProblem, shareOut } from "./pod-pool.js";
import {
  allContainers,
  exclusiveCpus,
  exclusivePodCpus,
  exclusiveShare,
  runsBefore,
  wholePodCpus,
} from "./requests.js";
import type { CpuState } from "./state.js";
import { takePacked } from "./take-cpus.js";
import { takeDistributed } from "./take-distributed.js";

export class StaticPolicy {
  constructor(
    private readonly topology: CpuTopology,
    readonly reserved: CpuSet,
    private readonly options: StaticOptions,
    readonly state: CpuState,
  ) {}

  /** The CPUs that can be assigned exclusively now. */
  get free(): CpuSet {
    return without(this.state.shared, this.options.fullCores ? this.reservedCores : this.reserved);
  }

  /** All that may ever be handed out. */
  get allocatable(): CpuSet {
    return without(this.topology.all, this.reserved);
  }

  /** The number of exclusive CPUs that the container gets; 0: none. */
  wanted(pod: Pod, container: Container): number {
    if (!hasPodLevelResources(pod)) return exclusiveCpus(pod, container);
    const { podLevel } = this.options;
    if (podLevel === "shared" || (podLevel === "whole" && wholePodCpus(pod) === 0)) return 0;
    return exclusiveShare(pod, container);
  }

  /** True if the container or its pod needs exclusive CPUs. */
  wantsExclusive(pod: Pod, container: Container): boolean {
    return this.wholePod(pod) > 0 || this.wanted(pod, container) > 0;
  }

  /** The pod has CPUs as a whole, of which its containers get their parts. */
  isWhole(pod: Pod): boolean {
    return this.wholePod(pod) > 0;
  }

  /** Undefined: the container requests none. Idempotent. @throws AllocationError */
  allocate(pod: Pod, container: Container, affinity: TopologyHint | undefined): CpuSet | undefined {
    const { uid } = pod.metadata;
    const [count, whole] = [this.wanted(pod, container), this.wholePod(pod)];
    if (count === 0 && whole === 0) return undefined;
    const known = this.state.of(uid, container.name);
    if (known !== undefined) return known;
    if (whole > 0) return this.allocatePod(pod, whole, affinity).get(container.name);
    const cpus = this.find(count, this.reusable(pod), affinity);
    this.state.assign(uid, container.name, cpus);
    return cpus;
  }

  /** Undefined: no preference. */
  hints(pod: Pod, container: Container): TopologyHint[] | undefined {
    if (this.wholePod(pod) > 0) return this.podHints(pod);
    const count = this.wanted(pod, container);
    if (count === 0) return undefined;
    const known = this.state.of(pod.metadata.uid, container.name);
    if (known === undefined) return this.places(this.free, count, this.reusable(pod));
    return known.size === count ? this.places(known, count) : [];
  }

  /** As hints, for all containers of the pod in one place. */
  podHints(pod: Pod): TopologyHint[] | undefined {
    const { uid } = pod.metadata;
    const whole = this.wholePod(pod);
    if (whole > 0) {
      const has = this.state.pods.get(uid);
      if (has !== undefined) return has.size === whole ? this.places(has, whole) : [];
      return this.poolProblem(pod, whole) === undefined ? this.places(this.free, whole) : [];
    }
    const count = exclusivePodCpus(pod, (container) => this.wanted(pod, container));
    if (count === 0) return undefined;
    const changed = allContainers(pod).some((container) => {
      const known = this.state.of(uid, container.name);
      return known !== undefined && known.size !== this.wanted(pod, container);
    });
    if (changed) return [];
    const known = this.state.ofPod(uid);
    return known.size === count ? this.places(known, count) : this.places(this.free, count, known);
  }

  isInOneCache(cpus: CpuSet): boolean {
    return this.topology.groupsOf("uncoreCache", cpus).length === 1;
  }

  /** NUMA node to the number of its CPUs that are assigned exclusively. */
  takenByNode(): Map<number, number> {
    const { taken } = this.state;
    const { topology } = this;
    return new Map(topology.ids("numaNode").map((id) => [id, common(topology.members("numaNode", id), taken).size]));
  }

  /** The number of exclusive CPUs for the pod as a whole; 0: its containers get their own, or none. */
  private wholePod(pod: Pod): number {
    return this.options.podLevel === "whole" && hasPodLevelResources(pod) ? wholePodCpus(pod) : 0;
  }

  private allocatePod(pod: Pod, count: number, affinity: TopologyHint | undefined): ReadonlyMap<string, CpuSet> {
    const problem = this.poolProblem(pod, count);
    if (problem !== undefined) throw emptyPodPool(problem);
    const cpus = this.find(count, NO_CPUS, affinity);
    const wanted = (container: Container): number => this.wanted(pod, container);
    const shares = shareOut(pod, cpus, wanted, (free, part) => this.takeFrom(free, part, NO_CPUS));
    if (shares === undefined) throw tooFewCpus(cpus.size, count);
    this.state.assignPod(pod.metadata.uid, cpus, shares);
    return shares;
  }

  private poolProblem(pod: Pod, count: number): string | undefined {
    return podPoolProblem(pod, count, (container) => this.wanted(pod, container));
  }

  private find(count: number, reusable: CpuSet, affinity: TopologyHint | undefined): CpuSet {
    const free = union(this.free, reusable);
    if (this.options.fullCores) {
      const perCore = this.topology.cpusPerCore;
      if (count % perCore !== 0) throw notWholeCores(count, perCore);
      if (count > free.size) throw tooFewCores(free.size, count, perCore);
    }
    const cpus = this.take(count, free, reusable, affinity);
    if (cpus === undefined) throw tooFewCpus(free.size, count);
    return cpus;
  }

  /** CPUs of init containers that have ended when the next container starts, unless one that stays has them already. */
  private reusable(pod: Pod): CpuSet {
    const containers = this.state.exclusive.get(pod.metadata.uid) ?? new Map<string, CpuSet>();
    const of = (before: boolean): CpuSet =>
      union(...[...containers].filter(([name]) => runsBefore(pod, name) === before).map(([, cpus]) => cpus));
    return without(of(true), of(false));
  }

  /** Takes CPUs that the pod has already, then those aligned with the topology hint, then any. */
  private take(count: number, free: CpuSet, reusable: CpuSet, affinity?: TopologyHint): CpuSet | undefined {
    const aligned = affinity === undefined ? NO_CPUS : common(this.placed(affinity), free);
    // CPUs that the pod already has would make the parts on the NUMA nodes uneven.
    const own = this.options.acrossNumaNodes ? NO_CPUS : reusable;
    let cpus = NO_CPUS;
    for (const tier of [own, aligned, free]) {
      const left = without(tier, cpus);
      const more = this.takeFrom(left, Math.min(count - cpus.size, left.size), cpus);
      cpus = union(cpus, more ?? []);
    }
    return cpus.size === count ? cpus : undefined;
  }

  private takeFrom(free: CpuSet, count: number, near: CpuSet): CpuSet | undefined {
    const { topology, options } = this;
    const { acrossCores, alignUncoreCache } = options;
    const packing = { acrossCores, alignUncoreCache, near };
    if (!options.acrossNumaNodes) return takePacked(topology, free, count, packing);
    return takeDistributed(topology, free, count, options.fullCores ? topology.cpusPerCore : 1, packing);
  }

  private placed({ nodes }: TopologyHint): CpuSet {
    const { topology } = this;
    const cpus = union(...nodes.map((id) => topology.members("numaNode", id)));
    if (!this.options.alignBySocket) return cpus;
    return union(...topology.groupsOf("socket", cpus).map((id) => topology.members("socket", id)));
  }

  private places(free: CpuSet, count: number, reusable: CpuSet = NO_CPUS): TopologyHint[] {
    return cpuHints(this.topology, free, count, { reusable, alignBySocket: this.options.alignBySocket });
  }

  /** Cores of which a thread is reserved: no container has them whole. */
  private get reservedCores(): CpuSet {
    const cores = this.topology.groupsOf("core", this.reserved);
    return union(...cores.map((id) => this.topology.members("core", id)));
  }
}
