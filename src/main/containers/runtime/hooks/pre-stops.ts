// The preStop hooks of one pod.
// Invariant: a hook starts once per container, and later callers join it. It ends at the earliest deadline of all
// callers. It outlives an aborted pass, but not the kubelet.

import { StoppingError } from "../../../../shared/base/abort/lifetime.js";
import { unlessAborted } from "../../../../shared/base/abort/unless-aborted.js";
import type { Timer } from "../../../../shared/base/clock/clock.js";
import type { SteadyTime } from "../../../../shared/base/clock/moments.js";
import { messageOf } from "../../../../shared/base/errors/thrown.js";
import { type LifecycleHandler, podDescription } from "../../../../shared/kubernetes/api/pod.js";
import { forgetAllBut, type ObservedPod } from "../../../../shared/kubernetes/cri/observed-pod.js";
import type { ContainerId } from "../../../../shared/kubernetes/identifiers.js";
import { traced } from "../../../model/pod-trace.js";
import type { NodeRuntime } from "../node-runtime.js";
import { HookError } from "./hook-error.js";
import type { HookTarget } from "./hook-target.js";
import { runHook } from "./run-hook.js";

/** Containers whose hooks have run, persisted for the next kubelet. */
export interface PreStopMemory {
  has(containerId: ContainerId): boolean;
  add(containerId: ContainerId): void;
  /** Forgets the containers that the runtime no longer has. */
  onObserved(observed: ObservedPod): void;
}

interface Run {
  /** Never rejects. */
  over: Promise<void>;
  abort: AbortController;
  deadline: SteadyTime;
  timer: Timer;
}

export class PreStops {
  private readonly runs = new Map<ContainerId, Run>();
  /** There may be no record of a pod that only the runtime still has. */
  private readonly done = new Set<ContainerId>();

  constructor(
    private readonly runtime: NodeRuntime,
    private readonly memory: PreStopMemory,
  ) {}

  get isIdle(): boolean {
    return this.runs.size === 0;
  }

  /** The preStop hook has run, in this kubelet process or an earlier one. */
  isOver(containerId: ContainerId): boolean {
    return this.done.has(containerId) || this.memory.has(containerId);
  }

  onObserved(observed: ObservedPod): void {
    forgetAllBut(this.done, observed);
    this.memory.onObserved(observed);
  }

  isRunning(containerId: ContainerId): boolean {
    return this.runs.has(containerId);
  }

  /** Resolves when the hook has ended or its time is up; rejects with the signal's reason, and the hook continues. */
  async run(target: HookTarget, handler: LifecycleHandler, deadline: SteadyTime, signal: AbortSignal): Promise<void> {
    const run = this.runs.get(target.containerId) ?? this.startRun(target, handler, deadline);
    if (deadline < run.deadline) {
      run.timer.cancel();
      run.deadline = deadline;
      run.timer = this.cutAt(deadline, run.abort);
    }
    await unlessAborted(run.over, signal);
  }

  /** The kubelet stops: the next one runs an interrupted hook again. */
  async stop(): Promise<void> {
    const runs = [...this.runs.values()];
    for (const { abort } of runs) abort.abort(new StoppingError());
    await Promise.all(runs.map(({ over }) => over));
  }

  private startRun(target: HookTarget, handler: LifecycleHandler, deadline: SteadyTime): Run {
    const abort = new AbortController();
    const { containerId, pod, container } = target;
    const subject = { uid: pod.metadata.uid, stage: "pre-stop", container: container.name };
    const run: Run = {
      abort,
      deadline,
      timer: this.cutAt(deadline, abort),
      over: traced(this.runtime.trace, subject, () => runHook(this.runtime, target, handler, abort.signal)).then(
        () => this.end(containerId),
        (error: unknown) => this.failed(target, handler, error),
      ),
    };
    this.runs.set(containerId, run);
    return run;
  }

  private cutAt(deadline: SteadyTime, abort: AbortController): Timer {
    const { clock } = this.runtime;
    return clock.after(Math.max(0, deadline - clock.steady()), () => abort.abort(new GraceOverError()));
  }

  private failed(target: HookTarget, handler: LifecycleHandler, error: unknown): void {
    const { pod, container, containerId } = target;
    const over = error instanceof StoppingError;
    this.end(containerId, !over);
    if (over) return;
    const message = messageOf(error);
    const fields = { uid: pod.metadata.uid, container: container.name, err: error };
    this.runtime.log.warn(fields, `${podDescription(pod)}: preStop hook of container ${container.name}: ${message}`);
    // A command and a request fail when their container is stopped; a sleep only ends.
    if (error instanceof GraceOverError && handler.sleep !== undefined) return;
    this.runtime.events.pod(pod, {
      type: "Warning",
      reason: "FailedPreStopHook",
      message: "PreStopHook failed",
      container: container.name,
    });
    if (!(error instanceof HookError || error instanceof GraceOverError))
      this.runtime.log.debug(fields, "cannot run the hook");
  }

  private end(containerId: ContainerId, remember = true): void {
    this.runs.get(containerId)?.timer.cancel();
    this.runs.delete(containerId);
    if (!remember) return;
    this.done.add(containerId);
    this.memory.add(containerId);
  }
}

class GraceOverError extends Error {
  override readonly name = "GraceOverError";
  constructor() {
    super("the grace period expired before the hook finished: cancelling the hook and stopping the container");
  }
}

/** For a pod without a record: finished hooks are known as long as the kubelet runs. */
export const noMemory: PreStopMemory = { has: () => false, add: () => undefined, onObserved: () => undefined };
