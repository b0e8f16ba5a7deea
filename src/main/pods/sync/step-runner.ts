// Runs a plan's steps for one pod: stops in parallel (sidecars in turn), then creations and starts in order, then
// removals. After each step the pod is inspected.
// Invariant: a failed container start or a refused resize is recorded and waits, while the pod's other containers
// continue. After a step with an unknown outcome the pod is relisted before the next plan.

import { AbortBranches } from "../../../shared/base/abort/branches.js";
import { type SteadyTime, type WallTime, later } from "../../../shared/base/clock/moments.js";
import { backoffMs } from "../../../shared/base/turns/backoff.js";
import type { InspectHint } from "../../../shared/contracts/pleg.js";
import { containerNamed } from "../../../shared/kubernetes/api/per-spec.js";
import { podDescription, type Container, type Pod } from "../../../shared/kubernetes/api/pod.js";
import { sameJson } from "../../../shared/kubernetes/api/same-json.js";
import type { ObservedPod } from "../../../shared/kubernetes/cri/observed-pod.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import { verbose } from "../../../shared/telemetry/log/logger.js";
import { secondsLeft } from "../../model/container-stop.js";
import { CrashBackoff } from "../../model/crash-backoff.js";
import { factsOf } from "../../model/error-facts.js";
import { ResizeError } from "../../model/resize-error.js";
import { StartContainerError } from "../../model/step-errors.js";
import { describeStep, type KillContainerStep, type Step } from "../../model/step.js";
import type { StartFailure, SyncedPod } from "../../model/synced-pod.js";
import { RestartMemory } from "../planner/restart-memory.js";
import { stepDecision } from "../planner/step-decision.js";
import { recordStepFailure } from "./failure-events.js";
import type { PodWorkerDeps } from "./pod-worker-port.js";
import { stopApart } from "./stops-apart.js";
import { stopInTurn } from "./stops-in-turn.js";
import { faultField } from "./user-made-failures.js";

/** A call failed: the next inspection must list everything. */
const UNKNOWN_OUTCOME: InspectHint[] = [{ kind: "relist", id: "" }];

/** Back-off of a failed pass, and of a failed container. */
export const RETRY = { initialMs: 1000, maxMs: 10_000 };

/** Back-off entries of one pod above which those that can't delay anything are dropped. */
const COLLECT_ABOVE = 64;

/** The input of one pass. */
export interface Work {
  /** undefined for a pod that only the runtime still lists. */
  pod: Pod | undefined;
  observed: ObservedPod;
  signal: AbortSignal;
  /** State at the start of the pass: the progress of a long step updates it. */
  synced?: SyncedPod;
  /** The pod ended before this kubelet: its steps are looked for only at a high verbosity. */
  wasOver?: boolean;
}

export class StepRunner {
  readonly backoff: CrashBackoff;
  readonly memory = new RestartMemory();
  readonly failures = new Map<string, StartFailure & { count: number }>();
  /** A sandbox was created, and the pod was not observed since. */
  sandboxUnseen = false;

  constructor(
    private readonly uid: PodUid,
    private readonly deps: PodWorkerDeps,
  ) {
    const { backoff, clock } = deps;
    this.backoff = new CrashBackoff(backoff, (at) => later(clock.steady(), at - clock.now()));
  }

  /** A new definition does not inherit the failures of the old one. */
  onDefinition(before: Pod | undefined, after: Pod): void {
    for (const name of this.failures.keys()) {
      if (!sameJson(definitionOf(before, name), definitionOf(after, name))) this.failures.delete(name);
    }
  }

  /** Rejects with the first failure, after all parallel steps have ended. */
  async run(steps: readonly Step[], work: Work): Promise<void> {
    using branches = new AbortBranches(work.signal);
    const run = (step: Step): Promise<void> => branches.run((signal) => this.one(step, { ...work, signal }));
    const of = (stage: Stage): Promise<void>[] => steps.filter((step) => stageOf(step) === stage).map(run);
    await this.stop(steps, work, run);
    await this.build(steps, work);
    await together(of("tidy"));
    await together(of("last"));
  }

  /** Stops in parallel; behind them those that wait for their turn. Hooks of containers that stop later run beside. */
  private async stop(
    steps: readonly Step[],
    { observed, signal }: Work,
    run: (step: Step) => Promise<void>,
  ): Promise<void> {
    const { clock } = this.deps;
    const stops = steps.filter((step) => stageOf(step) === "stop");
    const hooks = stops.filter(({ kind }) => kind === "run-pre-stop");
    const atOnce: readonly Step[] = stops.filter((step) => step.kind !== "run-pre-stop" && !isInTurn(step));
    const inTurn = stops.filter(isInTurn);
    const stopAll = async (): Promise<void> => {
      const now = clock.steady();
      const isLate = atOnce.some((step) => step.kind === "kill-container" && step.deadline <= now);
      await stopApart(atOnce, clock, { signal, isLate }, (step) => run(withRestOfGrace(step, clock.steady())));
      await stopInTurn(inTurn, observed.containers.length, clock, run);
    };
    await together([...hooks.map(run), stopAll()]);
  }

  private async build(steps: readonly Step[], work: Work): Promise<void> {
    /** Containers whose start waits for the next pass, because one before them failed. */
    const missed = new Set<string>();
    for (const step of steps) {
      if (stageOf(step) !== "build") continue;
      if (step.kind === "start-container" && step.after !== undefined) {
        if (this.failures.has(step.after) || missed.has(step.after)) {
          missed.add(step.container.name);
          continue;
        }
      }
      await this.one(step, work);
    }
  }

  private async one(step: Step, work: Work): Promise<void> {
    const { cache, log, loop, recorder } = this.deps;
    const { uid } = this;
    const name = this.name(work);
    await loop.turn();
    const write = work.wasOver === true ? verbose(log, 2) : log.info.bind(log);
    write?.({ pod: name, uid, ...stepDecision(step, work.observed) }, `${name}: ${describeStep(step)}`);
    this.memory.record(step);
    try {
      const hints = await this.execute(step, work);
      if (hints.length > 0) cache.bump(uid, hints);
    } catch (error) {
      cache.bump(uid, UNKNOWN_OUTCOME);
      if (error instanceof ResizeError && work.pod !== undefined) {
        this.deps.resizes.onFailed(work.pod, error);
        return;
      }
      if (!(error instanceof StartContainerError)) {
        if (!work.signal.aborted) recordStepFailure(recorder, work.pod, step, error);
        throw error;
      }
      if (step.kind === "start-container") this.noteStartFailure(step.container.name, error, name);
    }
  }

  private async execute(step: Step, work: Work): Promise<InspectHint[]> {
    const starts = step.kind === "start-container";
    const progress = { over: false };
    try {
      const hints = await this.deps.doer.execute(work.pod, step, work.signal, (made) => {
        if (starts) this.showProgress(step.container.name, made, progress, work);
      });
      if (starts) this.failures.delete(step.container.name);
      if (step.kind === "create-sandbox") this.sandboxUnseen = true;
      this.emitActuated(step, work.pod);
      if ("backoff" in step && step.backoff !== undefined) this.noteRestart(step.backoff);
      return hints;
    } catch (error) {
      // A container that cannot be started, for example for an unknown command, must not be created again every few
      // seconds.
      if (starts && step.backoff !== undefined && error instanceof StartContainerError) this.noteRestart(step.backoff);
      throw error;
    } finally {
      progress.over = true;
    }
  }

  /**
   * Another image or other resources yield another key: the keys of earlier definitions are dropped when their time has
   * expired.
   */
  private noteRestart({ key, finishedAt }: { key: string; finishedAt: WallTime }): void {
    const now = this.deps.clock.steady();
    this.backoff.next(key, finishedAt, now);
    if (this.backoff.size > COLLECT_ABOVE) this.backoff.collect(now);
  }

  private emitActuated(step: Step, pod: Pod | undefined): void {
    if (pod === undefined) return;
    if (step.kind === "start-container") this.deps.resizes.onStarted(pod, step.container.name);
    if (step.kind !== "resize-containers") return;
    this.deps.resizes.onResized(
      pod,
      step.containers.map(({ container }) => container.name),
    );
  }

  /** A container that waits for its hook is shown at once; a failure is shown at the end of the step. */
  private showProgress(container: string, made: InspectHint[], progress: { over: boolean }, work: Work): void {
    const { cache, reports, log } = this.deps;
    const { synced, signal } = work;
    cache.waitFor(this.uid, cache.bump(this.uid, made), signal).then(
      (observed) => {
        if (synced !== undefined && !progress.over) reports.onSynced({ ...synced, observed, inPostStart: container });
      },
      (error: unknown) =>
        log.debug({ uid: this.uid, err: error }, `${this.name(work)}: cannot observe the progress of ${container}`),
    );
  }

  private noteStartFailure(container: string, error: StartContainerError, name: string): void {
    const now = this.deps.clock.steady();
    const count = (this.failures.get(container)?.count ?? 0) + 1;
    const retryAt = error.retryAt ?? later(now, backoffMs(RETRY, count));
    const { reason, message } = error;
    this.failures.set(container, { reason, message, failedAt: now, retryAt, count, facts: factsOf(error) });
    this.deps.log.error(
      { pod: name, uid: this.uid, container, reason: error.reason, ...faultField(error) },
      `${name}: container ${container} did not start (${error.reason}): ${error.message}`,
    );
  }

  private name({ pod, observed }: Work): string {
    return pod === undefined ? `${observed.name}_${observed.namespace}(${this.uid})` : podDescription(pod);
  }
}

function definitionOf(pod: Pod | undefined, name: string): Container | undefined {
  return pod === undefined ? undefined : containerNamed(pod.spec, name)?.container;
}

/** All of them settle before the first failure is reported. */
async function together(jobs: Promise<void>[]): Promise<void> {
  const results = await Promise.allSettled(jobs);
  const failed = results.find((result) => result.status === "rejected");
  if (failed !== undefined) throw failed.reason;
}

/** A stop that begins later than it was planned. */
function withRestOfGrace(step: Step, now: SteadyTime): Step {
  if (step.kind !== "kill-container") return step;
  const graceSeconds = Math.min(step.graceSeconds, secondsLeft(step.deadline, now));
  return graceSeconds === step.graceSeconds ? step : { ...step, graceSeconds };
}

/** A sidecar that stops after another one. */
function isInTurn(step: Step): step is KillContainerStep {
  return step.kind === "kill-container" && step.after !== undefined;
}

type Stage = "stop" | "build" | "tidy" | "last";

/**
 * Removals come last, because no other step waits for them; sandboxes after containers, which their removal would
 * include.
 */
function stageOf(step: Step): Stage {
  switch (step.kind) {
    case "kill-container":
    case "run-pre-stop":
    case "stop-sandbox":
      return "stop";
    case "create-sandbox":
    case "start-container":
    case "resize-containers":
      return "build";
    case "remove-container":
      return "tidy";
    case "remove-sandbox":
    case "release":
    case "clean-up":
      return "last";
  }
}
