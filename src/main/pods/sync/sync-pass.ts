// One pass over a pod that may run: observe it, plan, report its state, run the steps of the plan.
// Invariant: no sidecar is stopped before the deadline of its termination is persisted.

import type { SteadyTime } from "../../../shared/base/clock/moments.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import type { ObservedPod } from "../../../shared/kubernetes/cri/observed-pod.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import { isAlive } from "../../model/observed-containers.js";
import type { Plan } from "../../model/step.js";
import type { SyncedPod } from "../../model/synced-pod.js";
import { planPod } from "../planner/plan.js";
import { CgroupWatch } from "./cgroup-watch.js";
import type { PodWorkerDeps } from "./pod-worker-port.js";
import { requireNetwork } from "./require-network.js";
import type { StepRunner } from "./step-runner.js";

/** The part of a pod worker that a sync uses. */
export interface SyncingWorker {
  readonly uid: PodUid;
  readonly steps: StepRunner;
  /** The pod's present state in the runtime. Rejects when the pass is interrupted. */
  observe(): Promise<ObservedPod>;
}

interface SyncResult {
  /**
   * "changed": the plan's steps ran. "completed": they ran, and the pod has run to its end. "expired": the pod must
   * fail.
   */
  kind: "changed" | "completed" | "expired" | "idle";
  /** Only for an idle pod: time of the next pass; undefined: at the next resync. */
  wakeAt?: SteadyTime | undefined;
}

export class SyncPass {
  private readonly cgroupWatch: CgroupWatch;
  /** From the last plan: the next plan continues with the same grace period. */
  private endDeadline: SteadyTime | undefined;
  /**
   * Nothing of the pod may run, and it has neither completed nor failed: a container never ran, and is not made after a
   * boot. As upstream, only its active deadline ends it.
   */
  private isStuck = false;
  /** Why containers waited in the pass before. */
  private waits: Plan["waiting"] | undefined;

  constructor(
    private readonly worker: SyncingWorker,
    private readonly deps: PodWorkerDeps,
  ) {
    this.endDeadline = deps.keptEnd.endDeadline(worker.uid);
    this.cgroupWatch = new CgroupWatch(deps.clock, (pod) => deps.isCgroupLost(pod));
  }

  /** `isExpired`: at a given moment, whether the pod's active deadline has passed. */
  async pass(pod: Pod, isExpired: () => boolean, signal: AbortSignal): Promise<SyncResult> {
    const observed = await this.worker.observe();
    const { steps } = this.worker;
    const plan = await this.plan(pod, observed, signal);
    if ((!plan.finished || this.isStuck) && isExpired()) return { kind: "expired" };
    const mayRun = !plan.finished || observed.containers.some(isAlive) || this.deps.holdsClaims(pod);
    const { failures } = steps;
    const synced: SyncedPod = { pod, observed, plan, failures, state: "syncing", mayRun, ended: false };
    await this.deps.reports.prepare(synced);
    await this.deps.loop.turn();
    signal.throwIfAborted();
    this.deps.reports.onSynced(synced);
    this.isStuck = plan.finished && this.waitsForDeadline(pod);
    const isOver = plan.finished && !this.isStuck;
    if (!isOver && plan.steps.length === 0) return { kind: "idle", wakeAt: plan.wakeAt };
    requireNetwork(pod, plan, this.deps.runtime());
    await steps.run(plan.steps, { pod, observed, signal, synced });
    return { kind: isOver ? "completed" : "changed" };
  }

  private waitsForDeadline(pod: Pod): boolean {
    if (pod.spec.activeDeadlineSeconds === undefined || this.deps.holdsClaims(pod)) return false;
    return !this.deps.reports.isFinal(this.worker.uid);
  }

  private async plan(pod: Pod, observed: ObservedPod, signal: AbortSignal): Promise<Plan> {
    const { clock, probes, gates, deadContainersKept, resizes } = this.deps;
    const { backoff, failures: startFailures, memory } = this.worker.steps;
    memory.onObserved(observed);
    const cgroupLost = await this.cgroupWatch.check(pod, observed);
    signal.throwIfAborted();
    const now = clock.steady();
    const plan = planPod({
      pod,
      observed,
      now,
      backoff,
      startFailures,
      probes,
      gates,
      memory,
      deadContainersKept,
      cgroupLost,
      endDeadline: this.endDeadline,
      resize: resizes.view(this.worker.uid),
    });
    await this.keepEndDeadline(plan.endDeadline, signal);
    this.keepWaits(plan);
    return plan;
  }

  /** As upstream, a container whose back-off is over shows why it waited until it has started. */
  private keepWaits(plan: Plan): void {
    const { waits } = this;
    if (waits !== undefined && plan.restartingAll === undefined) {
      for (const step of plan.steps) {
        if (step.kind !== "start-container") continue;
        const { name } = step.container;
        const wait = waits.get(name);
        if (wait !== undefined) plan.waiting.set(name, wait);
      }
    }
    this.waits = plan.waiting.size === 0 ? undefined : plan.waiting;
  }

  private async keepEndDeadline(deadline: SteadyTime | undefined, signal: AbortSignal): Promise<void> {
    if (deadline === this.endDeadline) return;
    this.endDeadline = deadline;
    await this.deps.keptEnd.keepEndDeadline(this.worker.uid, deadline);
    signal.throwIfAborted();
  }
}
