// One pod's state machine: a serial loop of observe → plan → do, until the pod matches its definition.
//
//   admitting ── admitted ──► syncing ── ran to its end ──┐
//       │  ▲                     │                        ▼      nothing runs, released
//       │  │                     └──── fail() ─────────► ending ───────────────────────► finished
//       └──┼──── rejected ───────────────────────────────►                                 │ (stays to be seen)
//          └──────── setPod with another definition, of a pod that completed or was rejected ┘
//
//   any but terminated ── terminate() ──► terminating ── nothing left of the pod ──► terminated (the worker has ended)
//
// Invariant: passes of one pod never overlap; a pod that was failed never runs again; terminating is never left but
// for terminated; deadlines only move earlier; no stop is sent before its deadline is kept; every failure is either
// retried by a timer or woken by the runtime's return.

import { type SteadyTime, later } from "../../../shared/base/clock/moments.js";
import { invariant } from "../../../shared/base/errors/invariant.js";
import { messageOf } from "../../../shared/base/errors/thrown.js";
import { type Pod, podDescription } from "../../../shared/kubernetes/api/pod.js";
import type { ObservedPod } from "../../../shared/kubernetes/cri/observed-pod.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import { verbose } from "../../../shared/telemetry/log/logger.js";
import { isLargePod } from "../../model/large-pod.js";
import type { PodEnd, PodWorkerState, TerminationRequest } from "../../model/synced-pod.js";
import type { AdmissionVerdict } from "../admission/verdict.js";
import { effectiveGraceSeconds } from "../planner/plan-termination.js";
import { ActiveDeadline, deadlineEvent, deadlineExceeded } from "./active-deadline.js";
import { operationOf } from "./pass-operation.js";
import { PassRetry } from "./pass-retry.js";
import { PassSchedule } from "./pass-schedule.js";
import { PodEnding, type EndingWorker } from "./pod-ending.js";
import { runsAgain } from "./pod-record.js";
import type { PodWorkerDeps } from "./pod-worker-port.js";
import { StepRunner } from "./step-runner.js";
import { SyncPass, type SyncingWorker } from "./sync-pass.js";
import { SyncTrace, type UpdateType } from "./sync-span.js";

interface WorkerParts {
  steps: StepRunner;
  sync: SyncPass;
}

export class PodWorker implements EndingWorker, SyncingWorker {
  state: PodWorkerState = "admitting";
  readonly passes: PassSchedule;
  private readonly ending: PodEnding;
  private readonly retry: PassRetry;
  /** Made when a pass needs them, dropped when the pod has ended: a node may keep thousands of such pods. */
  private parts: WorkerParts | undefined;
  /** The passes under way. */
  private passing: Promise<void> | undefined;
  /** The pod ended before this kubelet, and waits for its turn to pass. */
  private leaveLine: (() => void) | undefined;
  private readonly activeDeadline: ActiveDeadline;
  private readonly trace = new SyncTrace();
  private next: UpdateType = "create";
  /** The kind of update that admission handled: the next sync handles it too. */
  private admittedAs: UpdateType | undefined;

  constructor(
    readonly uid: PodUid,
    private pod: Pod | undefined,
    private readonly deps: PodWorkerDeps,
  ) {
    const { clock } = deps;
    this.retry = new PassRetry(deps);
    const { retry } = this;
    this.passes = new PassSchedule({ clock, retry, resyncMs: deps.syncFrequencyMs, onTimer: () => this.requestPass() });
    this.ending = new PodEnding(this, deps);
    this.activeDeadline = new ActiveDeadline(
      clock,
      () => deps.startTime(uid),
      () => this.interrupt("the pod's active deadline has expired"),
    );
    this.watchActiveDeadline();
  }

  get desired(): Pod | undefined {
    return this.pod;
  }

  get steps(): StepRunner {
    return this.working().steps;
  }

  /** Why and until when the pod's containers are stopped; undefined: they are not. */
  get stopping(): TerminationRequest | undefined {
    return this.ending.stopping;
  }

  /** Why the pod waits, for the nodelet command. */
  waits() {
    const { steps } = this.parts ?? {};
    const { last: retry } = this.retry;
    return { retry, startFailures: steps?.failures, stops: steps?.memory.stops, termination: this.ending.request };
  }

  /** Takes the pod's new content under its UID: only what changed is restarted. */
  setPod(pod: Pod): void {
    const again = runsAgain(this.pod, pod);
    this.parts?.steps.onDefinition(this.pod, pod);
    this.pod = pod;
    if (again && this.ending.mayRunAgain) {
      this.ending.revoke();
      this.become("admitting", "the pod's spec changed");
    }
    this.watchActiveDeadline();
    if (this.next === "sync") this.next = "update";
    this.pokeNow();
  }

  /** A pod whose termination an earlier kubelet started, or completed: then `reported` is true. */
  resumeEnd(end: PodEnd, reported: boolean): void {
    this.ending.resume(end, reported);
  }

  /**
   * Terminates a pod that its source still wants. The first cause stays; a later call may only shorten the grace
   * period.
   */
  fail(end: PodEnd): void {
    this.interruptFor(this.ending.fail(end));
  }

  /** Shortens a pending termination. */
  shorten(deadline: SteadyTime): void {
    this.interruptFor(this.ending.shorten(deadline));
  }

  /** Resolves when no container of the pod runs; rejects with OperatorError when the kubelet stops before. */
  whenStopped(): Promise<void> {
    return this.ending.whenStopped();
  }

  /** Resolves when no container runs and the volumes are unmounted; rejects as whenStopped does. */
  whenOver(): Promise<void> {
    return this.ending.whenOver();
  }

  /** Terminates the pod for good. A later call may only shorten the grace period. */
  terminate(request: TerminationRequest): void {
    this.interruptFor(this.ending.terminate(request));
  }

  /**
   * The cause of failed passes may have disappeared (a new definition, the runtime's return): plans again without
   * back-off.
   */
  pokeNow(): void {
    this.retry.retryNow();
    this.requestPass();
  }

  /** Something may have changed: plans again. Cheap; calls during a pass add one more pass. */
  requestPass(): void {
    if (!this.passes.request() || this.passing !== undefined) return;
    if (this.ending.wasOver) {
      this.leaveLine ??= this.deps.overTurns.add(() => this.passInTurn());
    } else {
      this.leave();
      this.passing = this.passAll().finally(() => this.onPassed());
    }
  }

  interrupt(why: string): void {
    this.passes.interrupt(why);
    this.pokeNow();
  }

  /** Stops the worker without touching the pod: the kubelet stops, its pods keep running. */
  async stop(): Promise<void> {
    this.activeDeadline.set(undefined);
    this.passes.stop();
    this.leave();
    this.ending.stopWaiting();
    await Promise.all([this.passing, this.deps.doer.stop()]);
    this.trace.end();
  }

  become(state: PodWorkerState, why: string): void {
    if (this.state === state) return;
    invariant(this.state !== "terminated", "a terminated pod stays terminated");
    invariant(this.state !== "terminating" || state === "terminated", "a terminating pod only becomes terminated");
    this.logChange(state, why);
    this.state = state;
    this.watchActiveDeadline();
    if (state === "finished" || state === "terminated") this.ending.onOver();
  }

  /** The pod has ended: drops what only a pass needs. */
  rest(): void {
    this.parts = undefined;
    this.passes.rest();
    this.deps.doer.rest();
  }

  /** A cached result ignores the signal: a terminating pod must not be planned as a running one. */
  async observe(): Promise<ObservedPod> {
    const { signal } = this.passes;
    const observed = await this.deps.cache.latest(this.uid, signal);
    await this.deps.loop.turn();
    signal.throwIfAborted();
    if (this.parts !== undefined) this.parts.steps.sandboxUnseen = false;
    this.deps.doer.onObserved(observed);
    return observed;
  }

  /** Thousands of pods may have ended before this kubelet: a start does not write lines about each. */
  private logChange(to: PodWorkerState, why: string): void {
    const { log } = this.deps;
    const write = this.ending.wasOver ? verbose(log, 2) : log.info.bind(log);
    if (write === undefined) return;
    const name = this.name();
    write({ pod: name, uid: this.uid, from: this.state, to }, `${name}: ${this.state} → ${to}: ${why}`);
  }

  name(): string {
    if (this.pod !== undefined) return podDescription(this.pod);
    const { name, namespace } = this.deps.cache.get(this.uid);
    return `${name}_${namespace}(${this.uid})`;
  }

  private passInTurn(): Promise<void> {
    this.leaveLine = undefined;
    this.passing = this.passAll().finally(() => this.onPassed());
    return this.passing;
  }

  private onPassed(): void {
    this.passing = undefined;
    if (this.passes.requested) this.requestPass();
  }

  private leave(): void {
    this.leaveLine?.();
    this.leaveLine = undefined;
  }

  /** Passes one after the other, while one is due. */
  private async passAll(): Promise<void> {
    for (let signal = this.passes.next(); signal !== undefined; signal = this.passes.next()) {
      try {
        await this.timedPass(signal);
        this.retry.succeeded();
      } catch (error) {
        if (!signal.aborted) this.onPassFailed(error);
      }
    }
  }

  private async timedPass(signal: AbortSignal): Promise<void> {
    const { clock, loop, reports } = this.deps;
    const [startedAt, operation] = [clock.monotonic(), operationOf(this.state, this.next)];
    try {
      await loop.turn();
      await this.pass(signal);
    } finally {
      this.next = "sync";
      reports.onPass(operation, clock.monotonic() - startedAt);
    }
  }

  private async pass(signal: AbortSignal): Promise<void> {
    if (this.state !== "syncing") this.trace.end();
    switch (this.state) {
      case "admitting":
        return this.admissionPass(signal);
      case "syncing":
        return this.tracedSyncPass(signal);
      case "ending":
      case "finished":
        return this.ending.endPass();
      case "terminating":
        return this.ending.terminationPass();
      case "terminated":
        return;
    }
  }

  private async tracedSyncPass(signal: AbortSignal): Promise<void> {
    const { pod } = this;
    if (pod === undefined) return;
    const updateType = this.admittedAs ?? this.next;
    this.admittedAs = undefined;
    await this.trace.pass(pod, updateType, this.steps.failures, () => this.syncPass(pod, signal));
  }

  private async admissionPass(signal: AbortSignal): Promise<void> {
    const { pod } = this;
    if (pod === undefined) return;
    const verdict = await this.deps.admission.admit(pod, signal);
    // Of a pod with thousands of containers, the verdict and its consequences take a round of the loop each.
    if (isLargePod(pod)) await this.deps.loop.laterTurn();
    else await this.deps.loop.turn();
    if (verdict.admit) this.deps.reports.onAdmitted(pod);
    signal.throwIfAborted();
    this.admittedAs = this.next;
    if (verdict.admit) this.become("syncing", "admitted");
    else this.reject(pod, verdict);
    this.passes.again();
  }

  private reject(pod: Pod, { reason, message }: Exclude<AdmissionVerdict, { admit: true }>): void {
    this.deps.recorder.pod(pod, { type: "Warning", reason, message });
    this.ending.startTermination({ cause: "rejected", failure: { reason, message }, deadline: this.deadlineOf(pod) });
  }

  /** Resolves to true if the next pass continues the same sync. */
  private async syncPass(pod: Pod, signal: AbortSignal): Promise<boolean> {
    const { kind, wakeAt } = await this.working().sync.pass(pod, () => this.activeDeadline.isOver(pod), signal);
    switch (kind) {
      case "expired":
        this.deps.recorder.pod(pod, deadlineEvent);
        this.fail({ cause: "failed", failure: deadlineExceeded, deadline: this.deadlineOf(pod) });
        return false;
      case "idle":
        this.passes.wakeAt(wakeAt);
        return false;
      case "completed":
      case "changed":
        this.passes.again();
        if (kind === "completed" && this.pod === pod && this.is("syncing")) {
          this.ending.startTermination({ cause: "completed", deadline: this.deadlineOf(pod) });
        }
        return this.is("syncing");
    }
  }

  private working(): WorkerParts {
    this.parts ??= { steps: new StepRunner(this.uid, this.deps), sync: new SyncPass(this, this.deps) };
    return this.parts;
  }

  /** Checked after a wait, during which anything may have happened. */
  private is(state: PodWorkerState): boolean {
    return this.state === state;
  }

  private onPassFailed(error: unknown): void {
    try {
      const sandboxUnseen = this.parts?.steps.sandboxUnseen === true;
      this.retry.failed({ uid: this.uid, name: this.name(), pod: this.pod, sandboxUnseen }, error);
    } catch (err) {
      this.deps.log.error({ uid: this.uid, err }, `${this.name()}: cannot record a failed sync: ${messageOf(err)}`);
    }
    this.passes.retryLater();
  }

  /** Only an admitted pod, or one that may be admitted, has one. */
  private watchActiveDeadline(): void {
    this.activeDeadline.set(this.state === "admitting" || this.state === "syncing" ? this.pod : undefined);
  }

  private interruptFor(why: string | undefined): void {
    if (why !== undefined) this.interrupt(why);
  }

  private deadlineOf(pod: Pod): SteadyTime {
    return later(this.deps.clock.steady(), effectiveGraceSeconds(pod) * 1000);
  }
}
