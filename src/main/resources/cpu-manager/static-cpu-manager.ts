// The CPU manager of policy static: keeps the policy's decisions on disk and applies them to running containers.
// Invariant: CPUs are on disk before a container is created with them; a running pod keeps its CPUs, though no record
// names it; a removed pod holds none.

import { omitUndefined } from "../../../shared/base/objects/omit-undefined.js";
import type { LatestWrite } from "../../../shared/io/fs/latest-write.js";
import { printCpuList } from "../../../shared/kubernetes/api/cpu-list.js";
import { containersOf } from "../../../shared/kubernetes/api/pod-containers.js";
import { type Container, type Pod } from "../../../shared/kubernetes/api/pod.js";
import type { PodUid, ContainerId } from "../../../shared/kubernetes/identifiers.js";
import { errorText } from "../../../shared/telemetry/log/error-text.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import { runningPods } from "../../model/observed-containers.js";
import type { AllocationSource, PodLevelMetrics } from "../assignment/pod-level.js";
import {
  AllocationError,
  type ContainerGrant,
  type ResourceHints,
  type ResourceManager,
  type TopologyHint,
} from "../assignment/resource-manager.js";
import type { CpuAssignments } from "./checkpoint.js";
import { ascending, union, without, type CpuSet } from "./cpu-set.js";
import type { CpuTopology } from "./cpu-topology.js";
import { cpuStateMismatchError } from "./errors.js";
import type { CpuManagerMetrics } from "./metrics.js";
import type { StaticOptions } from "./options.js";
import { CpuReconciler, type ReconcilerDeps } from "./reconciler.js";
import { type CpuStateFile } from "./state-file.js";
import { CpuState, stateProblem } from "./state.js";
import { StaticPolicy } from "./static-policy.js";

const POLICY = "static";

export interface StaticCpuManagerDeps extends Pick<ReconcilerDeps, "cri" | "observed" | "clock" | "periodMs"> {
  topology: CpuTopology;
  reserved: CpuSet;
  options: StaticOptions;
  file: CpuStateFile;
  metrics: CpuManagerMetrics;
  podLevelMetrics: PodLevelMetrics;
  log: Logger;
  /** Gate DisableCPUQuotaWithExclusiveCPUs. */
  noQuotaForExclusive: boolean;
}

export class StaticCpuManager implements ResourceManager {
  readonly kind = "cpu";
  private policy: StaticPolicy;
  private readonly reconciler: CpuReconciler;
  private readonly saves: LatestWrite;
  private pods: () => Iterable<Pod> = () => [];
  /** Pods that were known at some time: one of them that no longer is has ended. */
  private readonly known = new Set<PodUid>();
  /** Pods of the state file that no record names: the record is lost, or another kubelet admitted them. */
  private readonly unnamed = new Set<PodUid>();
  private swept = false;

  constructor(private readonly deps: StaticCpuManagerDeps) {
    this.policy = this.policyOn(new CpuState(this.usable));
    this.saves = deps.file.saving(() => this.assignments());
    const { cri, observed, clock, log, periodMs } = deps;
    this.reconciler = new CpuReconciler({
      cri,
      observed,
      clock,
      log,
      periodMs,
      cpusOf: (uid, name) => printCpuList(this.cpusOf(uid, name)),
      onTick: () => {
        this.releaseEnded();
      },
    });
  }

  /** Rejects with OperatorError. */
  async start(pods: () => Iterable<Pod>): Promise<void> {
    const { file, reserved, options } = this.deps;
    this.pods = pods;
    await file.removeLeftovers();
    const kept = await file.read(POLICY);
    // An empty state was written before any CPU was assigned: it counts as no state.
    if (kept !== undefined && (kept.shared.size > 0 || kept.exclusive.size > 0)) {
      const state = CpuState.of(kept);
      // No pod has CPUs as a whole any more.
      if (options.podLevel === "shared") for (const uid of [...state.pods.keys()]) state.release(uid);
      const problem = stateProblem(state, { usable: this.usable, reserved, strict: options.strictReservation });
      if (problem !== undefined) throw cpuStateMismatchError(file.path, problem);
      this.policy = this.policyOn(state);
    }
    const alive = new Set([...pods()].map(({ metadata }) => metadata.uid));
    for (const uid of this.policy.state.uids) if (!alive.has(uid)) this.unnamed.add(uid);
    await this.saves.request();
    this.count();
    this.reconciler.start();
  }

  hints(pod: Pod, container: Container): ResourceHints {
    this.sweep(pod);
    return asHints(this.policy.hints(pod, container));
  }

  podHints(pod: Pod): ResourceHints {
    this.sweep(pod);
    return asHints(this.policy.podHints(pod));
  }

  async allocate(
    pod: Pod,
    container: Container,
    affinity: TopologyHint | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    signal.throwIfAborted();
    this.sweep(pod);
    if (!this.policy.wantsExclusive(pod, container)) return;
    const { metrics, options, podLevelMetrics } = this.deps;
    const before = this.policy.state.shared;
    const source = this.policy.isWhole(pod) ? "pod" : "node";
    // A container that shares its pod's CPUs has requested none.
    if (this.policy.wanted(pod, container) > 0) metrics.requested();
    try {
      const cpus = this.policy.allocate(pod, container, affinity);
      if (options.alignUncoreCache && cpus !== undefined && this.policy.isInOneCache(cpus)) metrics.oneCache();
      if (options.fullCores) metrics.wholeCores(true);
    } catch (error) {
      if (!(error instanceof AllocationError)) throw error;
      metrics.failed();
      podLevelMetrics.failed(source);
      if (options.fullCores) metrics.wholeCores(false);
      throw error;
    }
    if (this.policy.state.shared === before) return;
    this.countAssigned(pod, source);
    try {
      this.changed();
      await this.saves.written();
    } catch (error) {
      // A container that runs already still moves to its CPUs: only the record of them is missing.
      if (this.runs(pod.metadata.uid)) return;
      metrics.failed();
      throw new AllocationError("UnexpectedAdmissionError", errorText(error), { cause: error });
    }
  }

  grant(pod: Pod, container: Container): ContainerGrant {
    const { uid } = pod.metadata;
    const own = this.policy.state.of(uid, container.name) !== undefined && this.policy.wanted(pod, container) > 0;
    const cpus = printCpuList(this.cpusOf(uid, container.name));
    return omitUndefined({ cpus, noCpuQuota: own && this.deps.noQuotaForExclusive ? true : undefined });
  }

  started(pod: Pod, container: Container, containerId: ContainerId): void {
    this.reconciler.started(pod.metadata.uid, container.name, containerId);
  }

  release(podUid: PodUid): void {
    this.known.delete(podUid);
    this.unnamed.delete(podUid);
    if (!this.policy.state.release(podUid)) return;
    this.changed();
    // A failure is logged; the next kubelet drops entries of terminated pods from the file.
    void this.saves.request();
  }

  /** CPUs that are the container's alone, ascending; []: it shares. */
  exclusiveCpus(podUid: PodUid, container: string): readonly number[] {
    return ascending(this.policy.state.of(podUid, container) ?? []);
  }

  /** CPUs that may be allocated, free or not, ascending. */
  allocatableCpus(): readonly number[] {
    return ascending(this.policy.allocatable);
  }

  async stop(): Promise<void> {
    await this.reconciler.stop();
    await this.saves.request();
  }

  /** A pod as a whole is allocated with its first container. */
  private countAssigned(pod: Pod, source: AllocationSource): void {
    const { podLevelMetrics } = this.deps;
    if (source === "node") {
      podLevelMetrics.allocated(source, 1);
      podLevelMetrics.assigned("node_exclusive", 1);
      return;
    }
    const containers = containersOf(pod.spec);
    const exclusive = containers.filter((container) => this.policy.wanted(pod, container) > 0).length;
    podLevelMetrics.allocated(source, containers.length);
    podLevelMetrics.assigned("pod_exclusive", exclusive);
    podLevelMetrics.assigned("pod_shared", containers.length - exclusive);
  }

  /** A pool that is all handed out (strict-cpu-reservation) leaves the reserved CPUs to those that share. */
  private cpusOf(uid: PodUid, container: string): CpuSet {
    const { state, reserved } = this.policy;
    return state.of(uid, container) ?? (state.shared.size > 0 ? state.shared : reserved);
  }

  private changed(): void {
    this.count();
    this.reconciler.poolChanged();
  }

  private runs(podUid: PodUid): boolean {
    return runningPods(this.deps.observed()).includes(podUid);
  }

  private assignments(): CpuAssignments {
    const { state } = this.policy;
    const withPods = this.deps.options.podLevel !== "shared";
    return {
      policyName: POLICY,
      shared: state.shared,
      exclusive: state.exclusive,
      pods: withPods ? state.pods : undefined,
    };
  }

  private count(): void {
    const { state, reserved } = this.policy;
    const free = without(state.shared, reserved).size;
    this.deps.metrics.setAllocation(state.taken.size, free, this.policy.takenByNode());
  }

  /** For a pod whose end was not reported. One that is being admitted was not known yet. */
  private releaseEnded(): void {
    const now = new Set([...this.pods()].map(({ metadata }) => metadata.uid));
    for (const uid of [...this.known]) if (!now.has(uid)) this.release(uid);
    if (this.swept) this.releaseUnnamed(now);
    for (const uid of this.policy.state.uids) if (now.has(uid)) this.known.add(uid);
  }

  /** When the first pod is admitted, the runtime has been observed. A pod that is admitted keeps its CPUs. */
  private sweep({ metadata }: Pod): void {
    this.unnamed.delete(metadata.uid);
    if (this.swept) return;
    this.swept = true;
    this.releaseUnnamed(new Set([...this.pods()].map((pod) => pod.metadata.uid)));
  }

  /** Frees what pods have that ended while no kubelet ran. */
  private releaseUnnamed(now: ReadonlySet<PodUid>): void {
    if (this.unnamed.size === 0) return;
    const running = new Set(runningPods(this.deps.observed()));
    for (const uid of [...this.unnamed]) {
      if (now.has(uid)) this.unnamed.delete(uid);
      else if (!running.has(uid)) this.release(uid);
    }
  }

  private policyOn(state: CpuState): StaticPolicy {
    const { topology, reserved, options } = this.deps;
    return new StaticPolicy(topology, reserved, options, state);
  }

  /** CPUs that pods may run on. */
  private get usable(): CpuSet {
    const { topology, reserved, options } = this.deps;
    return options.strictReservation ? without(topology.all, reserved) : union(topology.all);
  }
}

function asHints(hints: readonly TopologyHint[] | undefined): ResourceHints {
  return new Map(hints === undefined ? [] : [["cpu", hints]]);
}
