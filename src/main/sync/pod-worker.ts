// One pod's state machine: a serial loop of observe → plan → do, until the pod is as wanted.
//
//            setPod                    plan.finished
//   syncing ────────► syncing ─────────────────────► finished (stays: shown in /pods, exit codes kept)
//      │                  ▲  setPod with new content       │
//      │ terminate        └─────────────────────────────── │ terminate
//      ▼                                                    ▼
//   terminating ── nothing left of the pod ──► terminated (the worker is over)
//
// What must hold: passes of one pod never overlap; terminating is never left but for terminated; its deadline only
// moves earlier; every failure is either retried by a timer or woken by the runtime's return.
import type { Pod } from "../../shared/api/pod.js";
import { podDescription } from "../../shared/api/pod.js";
import type { Clock, Timer } from "../../shared/clock/clock.js";
import type { InspectHint } from "../../shared/contracts/pleg.js";
import { CriUnavailableError, isUnavailable } from "../../shared/cri/errors.js";
import type { ObservedPod } from "../../shared/cri/observed-pod.js";
import type { Logger } from "../../shared/log/logger.js";
import type { ProbedPodState } from "../probes/port.js";
import type { ProbeResults } from "../status/probe-results.js";
import { StartContainerError } from "../runtime/start-container-error.js";
import { CrashBackoff, type BackoffOptions } from "./crash-backoff.js";
import { planPod } from "./plan.js";
import type { StartFailure } from "./plan-context.js";
import { planTermination } from "./plan-termination.js";
import { InspectionError, type PodCache } from "./pod-cache.js";
import { defaultRestartGates, type RestartGates } from "./restart.js";
import { RestartMemory } from "./restart-memory.js";
import { describeStep, type Plan, type Step } from "./step.js";

export type PodWorkerState = "syncing" | "finished" | "terminating" | "terminated";

/** Executes steps. Rejects with StartContainerError for a container's own trouble, with anything else for the pod's. */
export interface StepDoer {
  /** `onProgress` tells what a long step has changed so far. */
  execute(
    pod: Pod | undefined,
    step: Step,
    signal: AbortSignal,
    onProgress?: (hints: InspectHint[]) => void,
  ): Promise<InspectHint[]>;
  /** The agent stops: what outlives an aborted step ends too. */
  stop?(): Promise<void>;
}

/** A pod after it was looked at and planned for. */
export interface SyncedPod {
  pod: Pod;
  observed: ObservedPod;
  plan: Plan;
  failures: ReadonlyMap<string, StartFailure>;
  state: ProbedPodState;
  /** The container whose postStart hook is under way: it runs, and has not started yet. */
  inPostStart?: string;
}

/** What a worker tells the outside. */
export interface PodWorkerEvents {
  /** The pod's picture or waits changed: its status is computed anew. */
  onSynced(synced: SyncedPod): void;
  /** Settles when the deadline is kept where another agent finds it, or can't be: no stop is sent before. */
  onTerminating(uid: string, deadline: number, reason: string): Promise<void>;
  onTerminated(uid: string): void;
}

export interface PodWorkerDeps {
  cache: PodCache;
  probes: ProbeResults;
  doer: StepDoer;
  events: PodWorkerEvents;
  clock: Clock;
  log: Logger;
  /** Of crashing containers; the standard curve where nothing is given. */
  backoff?: Partial<BackoffOptions>;
  gates?: RestartGates;
  deadContainersKept?: number;
}

export interface TerminationRequest {
  /** Milliseconds since the epoch. */
  deadline: number;
  reason: string;
}

/** A call failed: what it left behind must be listed. */
const UNKNOWN_OUTCOME: InspectHint[] = [{ kind: "relist", id: "" }];

const RETRY_MIN_MS = 1000;
const RETRY_MAX_MS = 10_000;
/** A pod that nothing wakes is still looked at this often (syncFrequency). */
const RESYNC_MS = 60_000;

export class PodWorker {
  state: PodWorkerState = "syncing";
  private termination: TerminationRequest | undefined;
  private terminationKept: Promise<void> = Promise.resolve();
  private cleaned = false;
  private dirty = false;
  private looping: Promise<void> | undefined;
  private timer: Timer | undefined;
  private passAbort = new AbortController();
  private retries = 0;
  /** After a failed pass nothing is tried before this moment, milliseconds since the epoch, unless it is urgent. */
  private notBefore = 0;
  private readonly backoff: CrashBackoff;
  private readonly memory = new RestartMemory();
  private readonly failures = new Map<string, StartFailure & { count: number }>();
  private stopped = false;
  /** As the pass under way began. */
  private synced: SyncedPod | undefined;

  constructor(
    readonly uid: string,
    private pod: Pod | undefined,
    private readonly deps: PodWorkerDeps,
  ) {
    this.backoff = new CrashBackoff(deps.backoff);
  }

  get desired(): Pod | undefined {
    return this.pod;
  }

  /** The same pod with new content: only what changed is restarted. */
  setPod(pod: Pod): void {
    // What another definition failed with says nothing about this one.
    for (const name of this.failures.keys()) {
      if (definitionOf(this.pod, name) !== definitionOf(pod, name)) this.failures.delete(name);
    }
    this.pod = pod;
    if (this.state === "finished") this.state = "syncing";
    this.pokeNow();
  }

  /** Ends the pod. A later call may only shorten the grace. */
  terminate(request: TerminationRequest): void {
    if (this.state === "terminated") return;
    if (this.termination !== undefined && this.termination.deadline <= request.deadline) return;
    this.termination = request;
    this.state = "terminating";
    this.terminationKept = this.deps.events.onTerminating(this.uid, request.deadline, request.reason);
    // A pull or a start under way is no longer wanted; a stop under way is repeated with the shorter grace.
    this.passAbort.abort(new Error("the pod is being terminated"));
    this.pokeNow();
  }

  /** What made passes fail may be over (the definition changed, the runtime is back): plan again without back-off. */
  pokeNow(): void {
    this.notBefore = 0;
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
    this.passAbort.abort(new Error("the agent is stopping"));
    await Promise.all([this.looping, this.deps.doer.stop?.()]);
  }

  private async loop(): Promise<void> {
    while (this.dirty && !this.stopped) {
      this.dirty = false;
      if (this.deps.clock.now() < this.notBefore) {
        this.wakeAt(this.notBefore);
        return;
      }
      // One signal until it is used: what a pass began may go on into the next.
      if (this.passAbort.signal.aborted) this.passAbort = new AbortController();
      try {
        await (this.state === "terminating" ? this.terminationPass() : this.syncPass());
        this.retries = 0;
      } catch (error) {
        this.onPassFailed(error);
      }
    }
  }

  private async syncPass(): Promise<void> {
    const { pod } = this;
    if (pod === undefined) return;
    const { cache, clock, events } = this.deps;
    const observed = await this.look(cache);
    this.memory.see(observed);
    const plan = planPod({
      pod,
      observed,
      now: clock.now(),
      backoff: this.backoff,
      startFailures: this.failures,
      probes: this.deps.probes,
      gates: this.deps.gates ?? defaultRestartGates,
      memory: this.memory,
      deadContainersKept: this.deps.deadContainersKept ?? 1,
    });
    this.state = plan.finished ? "finished" : "syncing";
    const synced: SyncedPod = { pod, observed, plan, failures: this.failures, state: this.state };
    events.onSynced(synced);
    this.synced = synced;
    if (plan.steps.length === 0) {
      this.wakeAt(plan.wakeAt);
      return;
    }
    await this.doSteps(pod, plan.steps);
    this.dirty = true;
  }

  /** An answer that was there already does not hear the signal: a pod that must go is not planned as one that runs. */
  private async look(cache: PodCache): Promise<ObservedPod> {
    const { signal } = this.passAbort;
    const observed = await cache.latest(this.uid, signal);
    signal.throwIfAborted();
    return observed;
  }

  private async terminationPass(): Promise<void> {
    const { cache, clock, events } = this.deps;
    const termination = this.termination;
    if (termination === undefined) return;
    await this.terminationKept;
    const observed = await this.look(cache);
    const { deadline, reason } = termination;
    const plan = planTermination({
      pod: this.pod,
      observed,
      now: clock.now(),
      deadline,
      reason,
      cleaned: this.cleaned,
    });
    if (this.pod !== undefined) {
      events.onSynced({ pod: this.pod, observed, plan, failures: this.failures, state: "terminating" });
    }
    if (plan.finished) {
      this.state = "terminated";
      this.timer?.cancel();
      events.onTerminated(this.uid);
      return;
    }
    await this.doSteps(this.pod, plan.steps);
    if (plan.steps.some((step) => step.kind === "clean-up")) this.cleaned = true;
    this.dirty = true;
  }

  /** Stops go side by side, then what is made in order, then removals. Each is followed by a look at the pod. */
  private async doSteps(pod: Pod | undefined, steps: readonly Step[]): Promise<void> {
    const run = async (step: Step): Promise<void> => {
      this.deps.log.info({ pod: this.name(), uid: this.uid, step: step.kind }, `${this.name()}: ${describeStep(step)}`);
      this.memory.note(step);
      try {
        const hints = await this.doStep(pod, step);
        if (hints.length > 0) this.deps.cache.bump(this.uid, hints);
      } catch (error) {
        this.deps.cache.bump(this.uid, UNKNOWN_OUTCOME);
        throw error;
      }
    };
    await together(steps.filter((step) => stageOf(step) === "stop").map(run));
    for (const step of steps) if (stageOf(step) === "build") await run(step);
    await together(steps.filter((step) => stageOf(step) === "tidy").map(run));
    await together(steps.filter((step) => stageOf(step) === "last").map(run));
  }

  /** A container that does not start is noted and waits; the pod's other containers go on. */
  private async doStep(pod: Pod | undefined, step: Step): Promise<InspectHint[]> {
    const { signal } = this.passAbort;
    const starts = step.kind === "start-container";
    const progress = { over: false };
    try {
      const hints = await this.deps.doer.execute(pod, step, signal, (made) => {
        if (starts) this.showProgress(step.container.name, made, progress, signal);
      });
      if (starts) this.failures.delete(step.container.name);
      if ("backoff" in step) this.backoff.next(step.backoff.key, step.backoff.finishedAt, this.deps.clock.now());
      return hints;
    } catch (error) {
      if (!starts || !(error instanceof StartContainerError)) throw error;
      this.noteStartFailure(step.container.name, error);
      return UNKNOWN_OUTCOME;
    } finally {
      progress.over = true;
    }
  }

  /** A container that waits for its hook is shown as it is; should that fail, the end of the step shows it. */
  private showProgress(container: string, made: InspectHint[], progress: { over: boolean }, signal: AbortSignal): void {
    const { cache, events, log } = this.deps;
    const { synced } = this;
    cache.waitFor(this.uid, cache.bump(this.uid, made), signal).then(
      (observed) => {
        if (synced !== undefined && !progress.over) events.onSynced({ ...synced, observed, inPostStart: container });
      },
      (error: unknown) => log.debug({ uid: this.uid, err: error }, `${this.name()}: progress of ${container} not seen`),
    );
  }

  private noteStartFailure(container: string, error: StartContainerError): void {
    const now = this.deps.clock.now();
    const count = (this.failures.get(container)?.count ?? 0) + 1;
    const retryAt = error.retryAt ?? now + Math.min(RETRY_MIN_MS * 2 ** (count - 1), RETRY_MAX_MS);
    this.failures.set(container, { reason: error.reason, message: error.message, failedAt: now, retryAt, count });
    this.deps.log.error(
      { pod: this.name(), uid: this.uid, container, reason: error.reason, err: error },
      `${this.name()}: container ${container} did not start (${error.reason}): ${error.message}`,
    );
  }

  private onPassFailed(error: unknown): void {
    if (this.stopped || this.passAbort.signal.aborted) return;
    this.retries++;
    const waitMs = Math.min(RETRY_MIN_MS * 2 ** (this.retries - 1), RETRY_MAX_MS);
    const message = error instanceof Error ? error.message : String(error);
    // The runtime's absence is told once for the node, and its return wakes every worker.
    const quiet = isUnavailable(error) || (error instanceof InspectionError && error.code === CriUnavailableError.name);
    if (!quiet || this.retries === 1) {
      this.deps.log[quiet ? "debug" : "error"](
        { pod: this.name(), uid: this.uid, err: error, retryMs: waitMs },
        `${this.name()}: sync failed, next try in ${waitMs / 1000}s: ${message}`,
      );
    }
    this.notBefore = this.deps.clock.now() + waitMs;
    this.wakeAt(this.notBefore);
  }

  private wakeAt(at: number | undefined): void {
    if (this.stopped) return;
    const ms = Math.min(at === undefined ? RESYNC_MS : at - this.deps.clock.now(), RESYNC_MS);
    this.timer?.cancel();
    this.timer = this.deps.clock.after(Math.max(ms, 1), () => this.poke());
  }

  private name(): string {
    if (this.pod !== undefined) return podDescription(this.pod);
    const { name, namespace } = this.deps.cache.get(this.uid);
    return `${name}_${namespace}(${this.uid})`;
  }
}

function definitionOf(pod: Pod | undefined, name: string): string | undefined {
  const { initContainers = [], containers = [], ephemeralContainers = [] } = pod?.spec ?? {};
  const all = [...initContainers, ...containers, ...ephemeralContainers];
  return JSON.stringify(all.find((container) => container.name === name));
}

/** All of them end before the first failure is reported. */
async function together(jobs: Promise<void>[]): Promise<void> {
  const results = await Promise.allSettled(jobs);
  const failed = results.find((result) => result.status === "rejected");
  if (failed !== undefined) throw failed.reason;
}

/** Removals come last, as nobody waits for them; sandboxes after containers, which they would take along. */
function stageOf(step: Step): "stop" | "build" | "tidy" | "last" {
  switch (step.kind) {
    case "kill-container":
    case "stop-sandbox":
      return "stop";
    case "create-sandbox":
    case "start-container":
      return "build";
    case "remove-container":
      return "tidy";
    case "remove-sandbox":
    case "clean-up":
      return "last";
  }
}
