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
import { messageOf } from "../../shared/errors/thrown.js";
import type { ObservedPod } from "../../shared/cri/observed-pod.js";
import { operationOf } from "./pass-operation.js";
import type { AdmissionVerdict } from "../admission/verdict.js";
import { ActiveDeadline, deadlineEvent, deadlineExceeded } from "./active-deadline.js";
import { requireNetwork } from "./network-not-ready.js";
import { planPod } from "../planner/plan.js";
import { effectiveGraceSeconds } from "../planner/plan-termination.js";
import { CgroupWatch } from "./cgroup-watch.js";
import { PassLoop } from "./pass-loop.js";
import { PassRetry } from "./pass-retry.js";
import { PodEnding, type EndingWorker } from "./pod-ending.js";
import type { PodEnd, PodWorkerDeps, PodWorkerState, SyncedPod, TerminationRequest } from "./pod-worker-port.js";
import { defaultRestartGates } from "../model/restart.js";
import { runsAgain } from "./runs-again.js";
import { StepRunner } from "./step-runner.js";
import { isAlive } from "../model/observed-containers.js";

export class PodWorker implements EndingWorker {
  state: PodWorkerState = "admitting";
  readonly passes: PassLoop;
  readonly steps: StepRunner;
  private readonly ending: PodEnding;
  private readonly retry: PassRetry;
  private readonly cgroupWatch: CgroupWatch;
  private readonly activeDeadline: ActiveDeadline;
  /** Of the last plan: its successor goes on with the same grace. */
  private endDeadline: number | undefined;
  private next: "create" | "update" | "sync" = "create";

  constructor(
    readonly uid: string,
    private pod: Pod | undefined,
    private readonly deps: PodWorkerDeps,
  ) {
    const { clock } = deps;
    this.endDeadline = deps.keptEnd?.endDeadline(uid);
    this.retry = new PassRetry(deps);
    this.passes = new PassLoop({
      clock,
      retry: this.retry,
      pass: (signal) => this.timedPass(signal),
      onFailed: (error) => this.onPassFailed(error),
    });
    this.steps = new StepRunner(uid, deps);
    this.ending = new PodEnding(this, deps);
    this.cgroupWatch = new CgroupWatch(clock, deps.isCgroupLost);
    this.activeDeadline = new ActiveDeadline(
      clock,
      () => deps.startTime(uid),
      () => this.passes.interrupt("the pod's active deadline has expired"),
    );
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
    if (again && this.ending.mayRunAgain) {
      this.ending.revoke();
      this.become("admitting", "the pod's spec changed");
    }
    this.watchActiveDeadline();
    if (this.next === "sync") this.next = "update";
    this.pokeNow();
  }

  /** A pod whose end an earlier kubelet began, or saw through: then `reported` is true. */
  resumeEnd(end: PodEnd, reported: boolean): void {
    this.ending.resume(end, reported);
  }

  /** Ends a pod that its source still wants. The first cause stays; a later call may only shorten the grace. */
  fail(end: PodEnd): void {
    this.ending.fail(end);
  }

  /** An end under way gets less time. */
  shorten(deadline: number): void {
    this.ending.shorten(deadline);
  }

  /** Resolves when no container of the pod runs; rejects with WorkerStoppedError when the kubelet stops before. */
  whenStopped(): Promise<void> {
    return this.ending.whenStopped();
  }

  /** Resolves when no container runs and the volumes are unmounted; rejects as whenStopped does. */
  whenOver(): Promise<void> {
    return this.ending.whenOver();
  }

  /** Ends the pod for good. A later call may only shorten the grace. */
  terminate(request: TerminationRequest): void {
    this.ending.terminate(request);
  }

  /** The cause of failed passes may be gone (a new definition, the runtime's return): plan again without back-off. */
  pokeNow(): void {
    this.passes.pokeNow();
  }

  /** Something may have changed: plan again. Cheap; calls during a pass add one more pass. */
  poke(): void {
    this.passes.poke();
  }

  /** Ends the worker without touching the pod: the kubelet stops, its pods go on. */
  async stop(): Promise<void> {
    this.activeDeadline.set(undefined);
    const passes = this.passes.stop();
    this.ending.stopWaiting();
    await Promise.all([passes, this.deps.doer.stop?.()]);
  }

  become(state: PodWorkerState, why: string): void {
    if (this.state === state) return;
    const name = this.name();
    this.deps.log.info(
      { pod: name, uid: this.uid, from: this.state, to: state },
      `${name}: ${this.state} → ${state}: ${why}`,
    );
    this.state = state;
    this.watchActiveDeadline();
    if (state === "finished" || state === "terminated") this.ending.onOver();
  }

  /** A result that was there already ignores the signal: a pod that must go is not planned as one that runs. */
  async look(): Promise<ObservedPod> {
    const { signal } = this.passes;
    const observed = await this.deps.cache.latest(this.uid, signal);
    signal.throwIfAborted();
    this.deps.doer.saw?.(observed);
    return observed;
  }

  name(): string {
    if (this.pod !== undefined) return podDescription(this.pod);
    const { name, namespace } = this.deps.cache.get(this.uid);
    return `${name}_${namespace}(${this.uid})`;
  }

  private async timedPass(signal: AbortSignal): Promise<void> {
    const { clock, events } = this.deps;
    const [startedAt, operation] = [clock.monotonic(), operationOf(this.state, this.next)];
    try {
      await this.pass(signal);
    } finally {
      this.next = "sync";
      events.onPass(operation, clock.monotonic() - startedAt);
    }
  }

  private async pass(signal: AbortSignal): Promise<void> {
    switch (this.state) {
      case "admitting":
        return this.admissionPass(signal);
      case "syncing":
        return this.syncPass(signal);
      case "ending":
      case "finished":
        return this.ending.endPass();
      case "terminating":
        return this.ending.terminationPass();
      case "terminated":
        return;
    }
  }

  private async admissionPass(signal: AbortSignal): Promise<void> {
    const { pod } = this;
    if (pod === undefined) return;
    const verdict = await this.deps.admit(pod, signal);
    signal.throwIfAborted();
    if (verdict.admit) this.become("syncing", "admitted");
    else this.reject(pod, verdict);
    this.passes.again();
  }

  private reject(pod: Pod, { reason, message }: Exclude<AdmissionVerdict, { admit: true }>): void {
    this.deps.recorder.pod(pod, { type: "Warning", reason, message });
    this.ending.begin({ cause: "rejected", failure: { reason, message }, deadline: this.deadlineOf(pod) });
  }

  private async syncPass(signal: AbortSignal): Promise<void> {
    const { pod } = this;
    if (pod === undefined) return;
    const { clock, events, probes, recorder } = this.deps;
    const observed = await this.look();
    const { backoff, failures: startFailures, memory } = this.steps;
    memory.see(observed);
    const { gates = defaultRestartGates, deadContainersKept = 1 } = this.deps;
    const cgroupLost = await this.cgroupWatch.check(pod, observed);
    signal.throwIfAborted();
    const now = clock.steady();
    const resize = this.deps.resizes?.view(this.uid);
    const plan = planPod({
      ...{ pod, observed, now, backoff, startFailures, probes, gates, memory, deadContainersKept, cgroupLost },
      endDeadline: this.endDeadline,
      ...(resize !== undefined && { resize }),
    });
    await this.keepEndDeadline(plan.endDeadline, signal);
    if (!plan.finished && this.activeDeadline.isOver(pod)) {
      recorder.pod(pod, deadlineEvent);
      this.fail({ cause: "failed", failure: deadlineExceeded, deadline: this.deadlineOf(pod) });
      return;
    }
    const mayRun = !plan.finished || observed.containers.some(isAlive);
    const synced: SyncedPod = { pod, observed, plan, failures: startFailures, state: "syncing", mayRun, ended: false };
    events.onSynced(synced);
    if (!plan.finished && plan.steps.length === 0) {
      this.passes.wakeAt(plan.wakeAt);
      return;
    }
    requireNetwork(pod, plan, this.deps.runtime());
    await this.steps.run(plan.steps, { pod, observed, signal, synced });
    this.passes.again();
    if (plan.finished && this.pod === pod && this.is("syncing")) {
      this.ending.begin({ cause: "completed", deadline: this.deadlineOf(pod) });
    }
  }

  /** Asked after a wait, in which anything may have happened. */
  private is(state: PodWorkerState): boolean {
    return this.state === state;
  }

  /** No sidecar is stopped before the deadline of its end is kept. */
  private async keepEndDeadline(deadline: number | undefined, signal: AbortSignal): Promise<void> {
    if (deadline === this.endDeadline) return;
    this.endDeadline = deadline;
    await this.deps.keptEnd?.keepEndDeadline(this.uid, deadline);
    signal.throwIfAborted();
  }

  private onPassFailed(error: unknown): void {
    try {
      this.retry.failed({ uid: this.uid, name: this.name(), pod: this.pod }, error);
    } catch (err) {
      this.deps.log.error({ uid: this.uid, err }, `${this.name()}: cannot record a failed sync: ${messageOf(err)}`);
    }
  }

  /** Only a pod that is admitted or may be has one. */
  private watchActiveDeadline(): void {
    this.activeDeadline.set(this.state === "admitting" || this.state === "syncing" ? this.pod : undefined);
  }

  private deadlineOf(pod: Pod): number {
    return this.deps.clock.steady() + effectiveGraceSeconds(pod) * 1000;
  }
}
