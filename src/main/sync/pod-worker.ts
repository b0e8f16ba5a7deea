// One pod's state machine: a serial loop of observe → plan → do, until the pod is as wanted.
//
//   admitting ── admitted ──► syncing ── ran to its end ──┐
//       │  ▲                     │                        ▼      nothing runs, released
//       │  │                     └──── fail() ─────────► ending ───────────────────────► finished
//       └──┼──── rejected ───────────────────────────────►                                 │ (stays to be seen)
//          └──────── setPod with another definition, of a pod that completed or was rejected ┘
//
//   any but terminated ── terminate() ──► terminating ── nothing left of the pod ──► terminated (the worker is over)
//
// Invariant: passes of one pod never overlap; a pod that was failed never runs again; terminating is never left but
// for terminated; deadlines only move earlier; no stop is sent before its deadline is kept; every failure is either
// retried by a timer or woken by the runtime's return.
import type { Pod } from "../../shared/api/pod.js";
import { podDescription } from "../../shared/api/pod.js";
import type { Timer } from "../../shared/clock/clock.js";
import { messageOf } from "../../shared/errors/thrown.js";
import type { ObservedPod } from "../../shared/cri/observed-pod.js";
import { operationOf } from "./pass-operation.js";
import type { AdmissionVerdict } from "../admission/verdict.js";
import type { ProbedPodState } from "../model/probe-port.js";
import { ActiveDeadline, deadlineEvent, deadlineExceeded } from "./active-deadline.js";
import { requireNetwork } from "./network-not-ready.js";
import { planPod } from "../planner/plan.js";
import { effectiveGraceSeconds, isUp, planEnd, planTermination } from "../planner/plan-termination.js";
import { CgroupWatch } from "./cgroup-watch.js";
import { PassRetry } from "./pass-retry.js";
import type { PodEnd, PodWorkerDeps, PodWorkerState, SyncedPod, TerminationRequest } from "./pod-worker-port.js";
import { defaultRestartGates } from "../model/restart.js";
import type { Plan } from "../model/step.js";
import { runsAgain } from "./runs-again.js";
import { StepRunner } from "./step-runner.js";
import { StopWatch } from "./stop-watch.js";
import { Waiters } from "./waiters.js";
import { isAlive } from "../model/observed-containers.js";

/** A pod that nothing wakes is still looked at this often (syncFrequency). */
const RESYNC_MS = 60_000;

export class PodWorker {
  state: PodWorkerState = "admitting";
  private end: PodEnd | undefined;
  private termination: TerminationRequest | undefined;
  /** The deadline is where another agent finds it. */
  private deadlineKept: Promise<void> = Promise.resolve();
  /** The final picture has been told: what is seen of the pod later changes nothing. */
  private endTold = false;
  private released = false;
  private cleaned = false;
  private dirty = false;
  private looping: Promise<void> | undefined;
  private timer: Timer | undefined;
  private passAbort = new AbortController();
  /** Of the last plan: its successor goes on with the same grace. */
  private endDeadline: number | undefined;
  private stopped = false;
  private readonly retry: PassRetry;
  private readonly steps: StepRunner;
  private readonly cgroupWatch: CgroupWatch;
  private readonly activeDeadline: ActiveDeadline;
  private readonly stopWatch: StopWatch;
  private readonly waiters = new Waiters();
  private readonly overWaiters = new Waiters();
  private next: "create" | "update" | "sync" = "create";

  constructor(
    readonly uid: string,
    private pod: Pod | undefined,
    private readonly deps: PodWorkerDeps,
  ) {
    this.endDeadline = deps.keptEnd?.endDeadline(uid);
    this.retry = new PassRetry(deps);
    this.steps = new StepRunner(uid, deps);
    this.cgroupWatch = new CgroupWatch(deps.clock, deps.isCgroupLost);
    this.activeDeadline = new ActiveDeadline(
      deps.clock,
      () => deps.startTime(uid),
      () => this.interrupt("the pod's active deadline has expired"),
    );
    this.stopWatch = new StopWatch(deps.clock, () => this.onStopOverdue());
    this.watchActiveDeadline();
  }

  get desired(): Pod | undefined {
    return this.pod;
  }

  /** The same pod with new content: only what changed is restarted. */
  setPod(pod: Pod): void {
    const again = runsAgain(this.pod, pod);
    this.steps.onDefinition(this.pod, pod);
    this.pod = pod;
    if (again && this.end !== undefined && this.end.cause !== "failed" && this.termination === undefined) {
      this.end = undefined;
      this.endTold = false;
      this.released = false;
      this.become("admitting", "the pod's spec changed");
    }
    this.watchActiveDeadline();
    if (this.next === "sync") this.next = "update";
    this.pokeNow();
  }

  /** A pod whose end an earlier life of the agent began, or saw through: then `told` is true. */
  resumeEnd(end: PodEnd, told: boolean): void {
    this.end = end;
    this.endTold = told;
    this.become("ending", `a previous kubelet terminated it (${end.failure?.reason ?? end.cause})`);
  }

  /** Ends a pod that its source still wants. The first cause stays; a later call may only shorten the grace. */
  fail(end: PodEnd): void {
    if (this.end === undefined && this.termination === undefined) this.beginEnd(end);
    else this.shorten(end.deadline);
  }

  /** An end under way gets less time. */
  shorten(deadline: number): void {
    const { end, termination } = this;
    if (termination !== undefined) this.terminate({ ...termination, deadline });
    else if (end?.cause === "failed" && deadline < end.deadline) this.beginEnd({ ...end, deadline });
  }

  /** Resolves when nothing of the pod runs any more; rejects with WorkerStoppedError when the agent stops before. */
  async whenStopped(): Promise<void> {
    if (!this.endTold && this.state !== "terminated") await this.waiters.wait();
  }

  /** Resolves when nothing of the pod runs and its volumes are down; rejects as whenStopped does. */
  async whenOver(): Promise<void> {
    if (this.state !== "finished" && this.state !== "terminated") await this.overWaiters.wait();
  }

  /** Ends the pod for good. A later call may only shorten the grace. */
  terminate(request: TerminationRequest): void {
    if (this.state === "terminated") return;
    if (this.termination !== undefined && this.termination.deadline <= request.deadline) return;
    const deadline = Math.min(request.deadline, this.end?.deadline ?? Infinity);
    this.termination = { deadline, reason: request.reason };
    this.activeDeadline.set(undefined);
    this.become("terminating", request.reason);
    this.deadlineKept = this.deps.events.onTerminating(this.uid, deadline, request.reason);
    // A pull or a start under way is no longer wanted; a stop under way is repeated with the shorter grace.
    this.interrupt("the pod is being terminated");
  }

  /** What made passes fail may be over (the definition changed, the runtime is back): plan again without back-off. */
  pokeNow(): void {
    this.retry.hurry();
    this.poke();
  }

  /** Something may have changed: plan again. Cheap; calls during a pass add one more pass. */
  poke(): void {
    if (this.stopped || this.state === "terminated") return;
    this.dirty = true;
    this.timer?.cancel();
    this.looping ??= this.loop().finally(() => {
      this.looping = undefined;
      if (this.dirty) this.poke();
    });
  }

  /** Ends the worker without touching the pod: the agent stops, its pods live on. */
  async stop(): Promise<void> {
    this.stopped = true;
    this.dirty = false;
    this.timer?.cancel();
    this.activeDeadline.set(undefined);
    this.passAbort.abort(new Error("the kubelet is stopping"));
    this.waiters.stop(this.name());
    this.overWaiters.stop(this.name());
    await Promise.all([this.looping, this.deps.doer.stop?.()]);
  }

  private async loop(): Promise<void> {
    while (this.dirty && !this.stopped) {
      this.dirty = false;
      const { rest } = this.retry;
      if (rest > 0) {
        this.wakeIn(rest);
        return;
      }
      // One signal until it is used: what a pass began may go on into the next.
      if (this.passAbort.signal.aborted) this.passAbort = new AbortController();
      const { clock, events } = this.deps;
      const [startedAt, operation] = [clock.monotonic(), operationOf(this.state, this.next)];
      try {
        await this.pass();
        this.retry.succeeded();
      } catch (error) {
        this.onPassFailed(error);
      } finally {
        this.next = "sync";
        events.onPass(operation, clock.monotonic() - startedAt);
      }
    }
  }

  private async pass(): Promise<void> {
    switch (this.state) {
      case "admitting":
        return this.admissionPass();
      case "syncing":
        return this.syncPass();
      case "ending":
      case "finished":
        return this.endPass();
      case "terminating":
        return this.terminationPass();
      case "terminated":
        return;
    }
  }

  private async admissionPass(): Promise<void> {
    const { pod } = this;
    if (pod === undefined) return;
    const { signal } = this.passAbort;
    const verdict = await this.deps.admit(pod, signal);
    signal.throwIfAborted();
    if (verdict.admit) this.become("syncing", "admitted");
    else this.reject(pod, verdict);
    this.dirty = true;
  }

  private reject(pod: Pod, { reason, message }: Exclude<AdmissionVerdict, { admit: true }>): void {
    this.deps.recorder.pod(pod, { type: "Warning", reason, message });
    this.beginEnd({ cause: "rejected", failure: { reason, message }, deadline: this.deadlineOf(pod) });
  }

  private async syncPass(): Promise<void> {
    const { pod } = this;
    if (pod === undefined) return;
    const { clock, events, probes, recorder } = this.deps;
    const observed = await this.look();
    const { backoff, failures: startFailures, memory } = this.steps;
    memory.see(observed);
    const { gates = defaultRestartGates, deadContainersKept = 1 } = this.deps;
    const cgroupLost = await this.cgroupWatch.check(pod, observed);
    this.passAbort.signal.throwIfAborted();
    const now = clock.steady();
    const resize = this.deps.resizes?.view(this.uid);
    const plan = planPod({
      pod,
      observed,
      now,
      backoff,
      startFailures,
      probes,
      gates,
      memory,
      endDeadline: this.endDeadline,
      deadContainersKept,
      cgroupLost,
      ...(resize !== undefined && { resize }),
    });
    await this.keepEndDeadline(plan.endDeadline);
    if (!plan.finished && this.activeDeadline.isOver(pod)) {
      recorder.pod(pod, deadlineEvent);
      this.fail({ cause: "failed", failure: deadlineExceeded, deadline: this.deadlineOf(pod) });
      return;
    }
    const mayRun = !plan.finished || observed.containers.some(isAlive);
    const synced: SyncedPod = { pod, observed, plan, failures: startFailures, state: "syncing", mayRun, ended: false };
    events.onSynced(synced);
    if (!plan.finished && plan.steps.length === 0) {
      this.wakeAt(plan.wakeAt);
      return;
    }
    requireNetwork(pod, plan, this.deps.runtime());
    await this.steps.run(plan.steps, { pod, observed, signal: this.passAbort.signal, synced });
    this.dirty = true;
    if (plan.finished && this.pod === pod && this.is("syncing")) {
      this.beginEnd({ cause: "completed", deadline: this.deadlineOf(pod) });
    }
  }

  private async endPass(): Promise<void> {
    const { pod, end, released } = this;
    if (pod === undefined || end === undefined) return;
    await this.deadlineKept;
    const observed = await this.look();
    const { deadline } = end;
    const reason = end.failure?.reason ?? "all its containers have exited";
    const plan = planEnd({ pod, observed, now: this.deps.clock.steady(), deadline, reason, released });
    this.tell(pod, observed, plan, end);
    if (plan.finished) {
      this.become("finished", "no container of it runs any more");
      this.deps.events.onFinished?.(this.uid);
      this.wakeAt(undefined);
      return;
    }
    await this.stopAll(plan, observed, deadline);
    // A start that was given up may have taken effect after all: what was stopped late is released once more.
    if (this.end === end) this.released = plan.steps.some((step) => step.kind === "release");
    this.dirty = true;
  }

  private async terminationPass(): Promise<void> {
    const { pod, termination, cleaned } = this;
    if (termination === undefined) return;
    await this.deadlineKept;
    const observed = await this.look();
    const { deadline, reason } = termination;
    const plan = planTermination({ pod, observed, now: this.deps.clock.steady(), deadline, reason, cleaned });
    if (pod !== undefined) this.tell(pod, observed, plan, this.end);
    if (plan.finished) {
      this.become("terminated", reason);
      this.timer?.cancel();
      this.waiters.resolve();
      this.deps.events.onTerminated(this.uid);
      return;
    }
    await this.stopAll(plan, observed, deadline);
    if (plan.steps.some((step) => step.kind === "clean-up")) this.cleaned = true;
    this.dirty = true;
  }

  /** An answer that was there already does not hear the signal: a pod that must go is not planned as one that runs. */
  private async look(): Promise<ObservedPod> {
    const { signal } = this.passAbort;
    const observed = await this.deps.cache.latest(this.uid, signal);
    signal.throwIfAborted();
    this.deps.doer.saw?.(observed);
    return observed;
  }

  /** The picture of a pod that is being ended, up to the final one. */
  private tell(pod: Pod, observed: ObservedPod, plan: Plan, end: PodEnd | undefined): void {
    const ended = !isUp(observed);
    if (!this.endTold) {
      const { failures } = this.steps;
      const state: ProbedPodState = ended ? "finished" : "terminating";
      const mayRun = observed.containers.some(isAlive);
      const synced: SyncedPod = { pod, observed, plan, failures, state, mayRun, ended };
      this.deps.events.onSynced(end === undefined ? synced : { ...synced, end });
    }
    if (!ended) return;
    this.endTold = true;
    this.waiters.resolve();
  }

  private async stopAll({ steps }: Plan, observed: ObservedPod, deadline: number): Promise<void> {
    const { pod } = this;
    const { signal } = this.passAbort;
    const run = (): Promise<void> => this.steps.run(steps, { pod, observed, signal });
    if (steps.some((step) => step.kind === "kill-container")) await this.stopWatch.during(deadline, run);
    else await run();
  }

  /** A stop that neither ends nor fails: its call is given up and made anew. */
  private onStopOverdue(): void {
    const message = "Container runtime did not kill the pod within specified grace period.";
    if (this.pod !== undefined) {
      this.deps.recorder.pod(this.pod, { type: "Warning", reason: "ExceededGracePeriod", message });
    }
    this.deps.log.warn({ pod: this.name(), uid: this.uid }, `${this.name()}: ${message} Trying once more.`);
    this.interrupt("the runtime did not kill the pod in time");
  }

  private beginEnd(end: PodEnd): void {
    this.end = end;
    this.activeDeadline.set(undefined);
    this.become("ending", end.failure?.reason ?? end.cause);
    this.deadlineKept = this.deps.events.onEnding(this.uid, end);
    if (end.cause === "failed") this.interrupt(`the pod is terminating: ${end.failure?.reason ?? ""}`);
  }

  /** What is under way is no longer wanted, or wanted otherwise: it is aborted and planned anew. */
  private interrupt(why: string): void {
    this.passAbort.abort(new Error(why));
    this.pokeNow();
  }

  /** Asked after a wait, in which anything may have happened. */
  private is(state: PodWorkerState): boolean {
    return this.state === state;
  }

  private become(state: PodWorkerState, why: string): void {
    if (this.state === state) return;
    const name = this.name();
    this.deps.log.info(
      { pod: name, uid: this.uid, from: this.state, to: state },
      `${name}: ${this.state} → ${state}: ${why}`,
    );
    this.state = state;
    if (state === "finished" || state === "terminated") this.overWaiters.resolve();
  }

  /** No sidecar is stopped before the deadline of its end is kept. */
  private async keepEndDeadline(deadline: number | undefined): Promise<void> {
    if (deadline === this.endDeadline) return;
    this.endDeadline = deadline;
    await this.deps.keptEnd?.keepEndDeadline(this.uid, deadline);
    this.passAbort.signal.throwIfAborted();
  }

  private onPassFailed(error: unknown): void {
    if (this.stopped || this.passAbort.signal.aborted) return;
    try {
      this.retry.failed({ uid: this.uid, name: this.name(), pod: this.pod }, error);
    } catch (err) {
      this.deps.log.error({ uid: this.uid, err }, `${this.name()}: cannot record a failed sync: ${messageOf(err)}`);
    }
    this.wakeIn(this.retry.rest);
  }

  private watchActiveDeadline(): void {
    this.activeDeadline.set(this.end === undefined && this.termination === undefined ? this.pod : undefined);
  }

  private deadlineOf(pod: Pod): number {
    return this.deps.clock.steady() + effectiveGraceSeconds(pod) * 1000;
  }

  /** `at`: by the steady clock. */
  private wakeAt(at: number | undefined): void {
    this.wakeIn(at === undefined ? RESYNC_MS : at - this.deps.clock.steady());
  }

  private wakeIn(ms: number): void {
    if (this.stopped) return;
    this.timer?.cancel();
    this.timer = this.deps.clock.after(Math.max(Math.min(ms, RESYNC_MS), 1), () => this.poke());
  }

  private name(): string {
    if (this.pod !== undefined) return podDescription(this.pod);
    const { name, namespace } = this.deps.cache.get(this.uid);
    return `${name}_${namespace}(${this.uid})`;
  }
}
