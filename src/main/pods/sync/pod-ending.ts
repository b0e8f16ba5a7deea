// The termination of one pod: because of its verdict (completed, rejected, failed), or because no source wants it any
// more. Invariant: the first cause stays; deadlines only move earlier; no stop is sent before its deadline is
// persisted; and the final status of the pod is reported once.

import { type SteadyTime, earliest } from "../../../shared/base/clock/moments.js";
import { invariant } from "../../../shared/base/errors/invariant.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import type { ObservedPod } from "../../../shared/kubernetes/cri/observed-pod.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import { isAlive } from "../../model/observed-containers.js";
import type { ProbedPodState } from "../../model/probe-port.js";
import type { Plan } from "../../model/step.js";
import type { PodEnd, PodWorkerState, SyncedPod, TerminationRequest } from "../../model/synced-pod.js";
import { isUp, planEnd, planTermination } from "../planner/plan-termination.js";
import type { PassSchedule } from "./pass-schedule.js";
import type { PodWorkerDeps } from "./pod-worker-port.js";
import { isRemoval, RefusedRemovals } from "./refused-removals.js";
import type { StepRunner } from "./step-runner.js";
import { StopWatch } from "./stop-watch.js";
import { tracedEnd } from "./sync-span.js";
import { Waiters } from "./waiters.js";

/** The part of a pod worker that the termination uses. */
export interface EndingWorker {
  readonly uid: PodUid;
  readonly desired: Pod | undefined;
  readonly state: PodWorkerState;
  readonly passes: PassSchedule;
  readonly steps: StepRunner;
  become(state: PodWorkerState, why: string): void;
  /** Aborts the pass under way; another one follows at once. */
  interrupt(why: string): void;
  /** The pod's present state in the runtime. Rejects when the pass is interrupted. */
  observe(): Promise<ObservedPod>;
  /** The pod has ended: no pass is due until something changes. */
  rest(): void;
  /** The pod's name for logs. */
  name(): string;
}

export class PodEnding {
  private end: PodEnd | undefined;
  private termination: TerminationRequest | undefined;
  /** Settles when the deadline is persisted for the next kubelet. */
  private deadlineKept: Promise<void> = Promise.resolve();
  /** The final status was reported: a later observation of the pod changes nothing. */
  private reported = false;
  private resumedOver = false;
  private released = false;
  private cleaned = false;
  private readonly stopWatch: StopWatch;
  private readonly removals: RefusedRemovals;
  private readonly stopped = new Waiters();
  private readonly over = new Waiters();

  constructor(
    private readonly worker: EndingWorker,
    private readonly deps: PodWorkerDeps,
  ) {
    this.stopWatch = new StopWatch(deps.clock, () => this.onStopOverdue());
    this.removals = new RefusedRemovals((message) => this.onRemovalsGivenUp(message));
  }

  /** The pod completed or was rejected, and a new definition may run again. */
  get mayRunAgain(): boolean {
    return this.end !== undefined && this.end.cause !== "failed" && this.termination === undefined;
  }

  /** An earlier kubelet ended the pod: only its remains, if there are any, are left to remove. */
  get wasOver(): boolean {
    return this.resumedOver && this.termination === undefined;
  }

  /** The pod must stop: why, and until when. */
  get request(): TerminationRequest | undefined {
    const { end, termination } = this;
    if (termination !== undefined || end === undefined) return termination;
    return { deadline: end.deadline, reason: end.failure?.reason ?? end.cause };
  }

  /**
   * Why and until when the pod's containers are stopped; undefined: they are not, or they have ended and its source
   * still wants it.
   */
  get stopping(): TerminationRequest | undefined {
    if (this.termination !== undefined) return this.termination;
    return this.end?.cause === "failed" && !this.reported ? this.request : undefined;
  }

  /** Forgets a termination that {@link mayRunAgain}. */
  revoke(): void {
    this.end = undefined;
    this.reported = this.resumedOver = false;
    this.released = false;
  }

  /** Continues the termination of an earlier kubelet; `reported`: that kubelet also completed it. */
  resume(end: PodEnd, reported: boolean): void {
    this.end = end;
    this.reported = this.resumedOver = reported;
    this.worker.become("ending", `a previous kubelet terminated it (${end.failure?.reason ?? end.cause})`);
  }

  /**
   * Terminates a pod that its source still wants. A later call may only shorten the grace period. @returns why the pass
   * under way is of no use any more; undefined: it goes on
   */
  fail(end: PodEnd): string | undefined {
    if (this.end === undefined && this.termination === undefined) return this.startTermination(end);
    return this.shorten(end.deadline);
  }

  /** Shortens a pending termination. @returns as fail does */
  shorten(deadline: SteadyTime): string | undefined {
    const { end, termination } = this;
    if (termination !== undefined) return this.terminate({ ...termination, deadline });
    return end?.cause === "failed" && deadline < end.deadline ? this.startTermination({ ...end, deadline }) : undefined;
  }

  /** Terminates the pod for good. A later call may only shorten the grace period. @returns as fail does */
  terminate(request: TerminationRequest): string | undefined {
    const { worker } = this;
    // After the clean-up nothing is left to stop: the end of the object itself is such a call.
    if (worker.state === "terminated" || this.cleaned) return undefined;
    if (this.termination !== undefined && this.termination.deadline <= request.deadline) return undefined;
    const deadline = earliest(request.deadline, this.end?.deadline ?? request.deadline);
    this.termination = { deadline, reason: request.reason };
    worker.become("terminating", request.reason);
    this.deadlineKept = this.deps.reports.onTerminating(worker.uid, deadline, request.reason);
    // A pending pull or start is aborted; a pending stop is repeated with the shorter grace period.
    return "the pod is being terminated";
  }

  /** @returns as fail does */
  startTermination(end: PodEnd): string | undefined {
    const { worker } = this;
    invariant(this.end === undefined || end.deadline <= this.end.deadline, "a pod's deadline only moves earlier");
    this.end = end;
    worker.become("ending", end.failure?.reason ?? end.cause);
    this.deadlineKept = this.deps.reports.onEnding(worker.uid, end);
    return end.cause === "failed" ? `the pod is terminating: ${end.failure?.reason ?? ""}` : undefined;
  }

  /** Resolves when no container of the pod runs; rejects with OperatorError when the kubelet stops before. */
  async whenStopped(): Promise<void> {
    if (!this.reported && this.worker.state !== "terminated") await this.stopped.wait();
  }

  /** Resolves when no container runs and the volumes are unmounted; rejects as whenStopped does. */
  async whenOver(): Promise<void> {
    const { state } = this.worker;
    if (state !== "finished" && state !== "terminated") await this.over.wait();
  }

  /** The worker reached a state in which no container of the pod is left to stop. */
  onOver(): void {
    this.over.resolve();
  }

  /** The kubelet stops: ends the waits, but not the pod's termination. */
  stopWaiting(): void {
    this.stopped.stop(this.worker.name());
    this.over.stop(this.worker.name());
  }

  /** One pass of a terminating pod whose source still wants it. */
  async endPass(): Promise<void> {
    const { end, released, worker } = this;
    const { desired: pod } = worker;
    if (pod === undefined || end === undefined) return;
    await this.deadlineKept;
    const observed = await worker.observe();
    const { deadline } = end;
    const reason = end.failure?.reason ?? "all its containers have exited";
    const removalsRefused = this.removals.areGivenUp;
    const now = this.deps.clock.steady();
    const holdsClaims = this.deps.holdsClaims(pod);
    const plan = planEnd({ pod, observed, now, deadline, reason, removalsRefused, released, holdsClaims });
    await this.report(pod, observed, plan, { end, holdsClaims });
    if (plan.finished) {
      worker.become("finished", "no container of it runs any more");
      this.deps.reports.onFinished(worker.uid);
      worker.rest();
      return;
    }
    await this.stopAll(plan, observed, deadline);
    // An abandoned start may have taken effect after all: a container that was stopped late is released once more.
    if (this.end === end) this.released = plan.steps.some((step) => step.kind === "release");
    worker.passes.again();
  }

  /** One pass of a pod that no source wants any more. */
  async terminationPass(): Promise<void> {
    const { termination, cleaned, worker } = this;
    const { desired: pod } = worker;
    if (termination === undefined) return;
    await this.deadlineKept;
    const observed = await worker.observe();
    const { deadline, reason } = termination;
    const removalsRefused = this.removals.areGivenUp;
    const now = this.deps.clock.steady();
    const holdsClaims = pod !== undefined && this.deps.holdsClaims(pod);
    const plan = planTermination({ pod, observed, now, deadline, reason, removalsRefused, cleaned, holdsClaims });
    if (pod !== undefined) await this.report(pod, observed, plan, { end: this.end, holdsClaims });
    if (plan.finished) {
      worker.become("terminated", reason);
      worker.passes.end();
      this.stopped.resolve();
      this.deps.reports.onTerminated(worker.uid);
      return;
    }
    await this.stopAll(plan, observed, deadline);
    const isClean = plan.steps.some((step) => step.kind === "clean-up");
    // A sandbox that an abandoned call has made late is stopped, and its cgroup removed once more.
    this.cleaned = isClean || (this.cleaned && plan.steps.every(isRemoval));
    if (isClean) this.deps.reports.onLeft(worker.uid);
    worker.passes.again();
  }

  /** The status of a terminating pod, up to the final one, which waits for the end of the pod's claims. */
  private async report(
    pod: Pod,
    observed: ObservedPod,
    plan: Plan,
    { end, holdsClaims }: { end: PodEnd | undefined; holdsClaims: boolean },
  ): Promise<void> {
    const ended = !isUp(observed) && !holdsClaims;
    if (!this.reported) {
      const { failures } = this.worker.steps;
      const state: ProbedPodState = ended ? "finished" : "terminating";
      const mayRun = observed.containers.some(isAlive) || holdsClaims;
      const shown: SyncedPod = { pod, observed, plan, failures, state, mayRun, ended };
      const synced = end === undefined ? shown : { ...shown, end };
      await this.deps.reports.prepare(synced);
      await this.deps.loop.turn();
      this.deps.reports.onSynced(synced);
    }
    if (!isUp(observed)) this.stopped.resolve();
    if (ended) this.reported = true;
  }

  private async stopAll({ steps }: Plan, observed: ObservedPod, deadline: SteadyTime): Promise<void> {
    const { desired: pod, passes } = this.worker;
    const { signal } = passes;
    if (steps.length === 0) return;
    const run = (): Promise<void> =>
      tracedEnd(observed, isUp(observed), () =>
        this.removals.during(steps, () =>
          this.worker.steps.run(steps, { pod, observed, signal, wasOver: this.wasOver }),
        ),
      );
    const stops = steps.filter((step) => step.kind === "kill-container").length;
    if (stops > 0) await this.stopWatch.during(deadline, stops, run);
    else await run();
  }

  private onRemovalsGivenUp(message: string): void {
    const name = this.worker.name();
    this.deps.log.warn(
      { pod: name, uid: this.worker.uid },
      `${name}: the runtime does not remove the pod's sandboxes and containers: ${message}. The kubelet cleans up the pod without it, and ` +
        "tries again every minute; a restart of the runtime may help",
    );
  }

  /** A stop that neither completes nor fails: its call is aborted and repeated. */
  private onStopOverdue(): void {
    const { desired: pod, uid } = this.worker;
    const name = this.worker.name();
    const message = "Container runtime did not kill the pod within specified grace period.";
    if (pod !== undefined) this.deps.recorder.pod(pod, { type: "Warning", reason: "ExceededGracePeriod", message });
    this.deps.log.warn({ pod: name, uid }, `${name}: ${message} Trying once more.`);
    this.worker.interrupt("the runtime did not kill the pod in time");
  }
}
