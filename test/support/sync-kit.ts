// Helpers for tests of the sync path: a pod worker's surroundings without a runtime. The pleg thread is a function
// that returns inspections of model runtimes. The doer applies steps to them, and a test can make it fail or hang.

import type { EventInput } from "../../src/main/model/event-recorder.js";
import { PodEventStream } from "../../src/main/model/pod-events.js";
import { resourcesOf, type PodResources } from "../../src/main/model/pod-resources.js";
import { noProbeResults } from "../../src/main/model/probe-results.js";
import { defaultRestartGates } from "../../src/main/model/restart.js";
import type { Plan, Step } from "../../src/main/model/step.js";
import type { PodEnd, StartFailure, SyncedPod } from "../../src/main/model/synced-pod.js";
import type { AdmissionVerdict } from "../../src/main/pods/admission/verdict.js";
import { OverTurns } from "../../src/main/pods/sync/over-turns.js";
import { PodCache } from "../../src/main/pods/sync/pod-cache.js";
import { PodTable } from "../../src/main/pods/sync/pod-table.js";
import type { PodWorkerDeps } from "../../src/main/pods/sync/pod-worker-port.js";
import type { PodWorkersDeps } from "../../src/main/pods/sync/pod-workers.js";
import { LoopShare } from "../../src/shared/base/turns/loop-share.js";
import type { InspectHint, InspectRequest, PlegRecord, RuntimeState } from "../../src/shared/contracts/pleg.js";
import type { Pod } from "../../src/shared/kubernetes/api/pod.js";
import type { ObservedPod } from "../../src/shared/kubernetes/cri/observed-pod.js";
import { podUid, containerIdOf } from "../../src/shared/kubernetes/identifiers.js";
import { ModelRuntime } from "./model-runtime.js";
import { keptLog } from "./sources-kit.js";
import { SteppedClock } from "./stepped-clock.js";

const ignore = (): void => undefined;

/** Lets everything run that needs no time: only promises and immediates are under way in these tests. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
}

export function emptyObservation(uid: string, generation: number): ObservedPod {
  return { uid: podUid(uid), namespace: "", name: "", sandboxes: [], containers: [], generation, observedAt: 0 };
}

/** Scripted behaviour of the doer for a step, instead of success; the script may change the model. */
export type Script = (step: Step, signal: AbortSignal) => Promise<InspectHint[]> | undefined;

export const HINTS: InspectHint[] = [{ kind: "container", id: containerIdOf("made") }];

/** Waits until the signal aborts, then fails as a cancelled call does. */
export function hang(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const abort = (): void => reject(signal.reason instanceof Error ? signal.reason : new Error("aborted"));
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
  });
}

export interface Synced {
  pod: Pod;
  plan: Plan;
  failures: Map<string, StartFailure>;
  state: SyncedPod["state"];
  mayRun: boolean;
  ended: boolean;
  end: PodEnd | undefined;
}

export class SyncWorld {
  readonly clock = new SteppedClock();
  readonly pods = new PodTable();
  readonly loop = new LoopShare(this.clock);
  readonly overTurns = new OverTurns(8);
  /** Pods whose doers were dropped. */
  readonly rested: string[] = [];
  readonly kept = keptLog();
  /** The runtime has all resources that a pod asks for: these tests resize nothing. */
  private readonly actuated = new Map<string, PodResources>();
  readonly models = new Map<string, ModelRuntime>();
  readonly asked: InspectRequest[] = [];
  /** Answers an inspection; by default with what the model has. undefined: no answer. */
  answer: (request: InspectRequest) => PlegRecord | undefined = (request) => this.observation(request);
  /** Steps in the order they began, as "UID kind[ container]". */
  readonly begun: string[] = [];
  readonly steps: Step[] = [];
  script: Script = () => undefined;
  /** Steps of one pod under way at once, highest seen. */
  readonly synced: Synced[] = [];
  /** Statuses that were computed ahead. */
  prepared = 0;
  /** Promise that a worker awaits before it stops a container. */
  terminationKept: Promise<void> = Promise.resolve();
  readonly terminating: { uid: string; deadline: number; reason: string }[] = [];
  readonly finished: string[] = [];
  readonly endings: { uid: string; end: PodEnd }[] = [];
  /** Pods that use nothing of the node any more; their sandboxes are removed after that. */
  readonly left: string[] = [];
  readonly terminated: string[] = [];
  /** Pods whose claims are prepared; a release ends them. */
  readonly claims = new Set<string>();
  /** Result of admission; by default every pod is admitted. */
  admit: (pod: Pod, signal: AbortSignal) => Promise<AdmissionVerdict> = () => Promise.resolve({ admit: true });
  /** Events as "TYPE REASON: MESSAGE". */
  readonly recorded: string[] = [];
  startTime: string | undefined = "1970-01-01T00:00:00Z";
  /** A pod of which nothing may run has ended. */
  isFinal = true;
  runtimeState: RuntimeState | undefined;
  /** Steps that ended, as "UID kind", with "failed" when they did. */
  /** Outcome under which each pass was counted. */
  readonly passes: string[] = [];
  onTerminated: (uid: string) => void = () => undefined;
  /** Takes the records of the pleg thread. */
  onRecord = (record: PlegRecord): void => void this.cache.onRecord(record);
  readonly cache: PodCache;

  constructor() {
    this.cache = new PodCache(this.clock, { inspect: (request) => this.ask(request) });
  }

  model(pod: Pod): ModelRuntime {
    const { uid } = pod.metadata;
    const model = this.models.get(uid) ?? new ModelRuntime(pod);
    model.now = Math.max(this.models.has(uid) ? model.now : 0, this.clock.now());
    this.actuated.set(uid, resourcesOf(pod));
    this.models.set(uid, model);
    return model;
  }

  observation({ uid, generation }: Pick<InspectRequest, "uid" | "generation">): PlegRecord {
    const model = this.models.get(uid);
    if (model === undefined) return { kind: "pod", observed: emptyObservation(uid, generation) };
    const observed = { ...structuredClone(model.observed), generation, observedAt: this.clock.now() };
    return { kind: "pod", observed };
  }

  /** A container ends and the pleg thread sees it, without having been asked. */
  exit(pod: Pod, container: string, exitCode: number): void {
    this.model(pod).exit(container, exitCode);
    const { uid } = pod.metadata;
    this.onRecord(this.observation({ uid, generation: this.cache.get(uid).generation }));
  }

  workerDeps(uid: string): PodWorkerDeps {
    return {
      cache: this.cache,
      probes: noProbeResults,
      doer: this.doer(uid),
      reports: this.reports(),
      recorder: {
        pod: (_pod, event) => void this.recorded.push(eventLine(event)),
        node: (event) => void this.recorded.push(eventLine(event)),
      },
      admission: { admit: (pod, signal) => this.admit(pod, signal) },
      keptEnd: { endDeadline: () => undefined, keepEndDeadline: () => Promise.resolve() },
      isCgroupLost: () => Promise.resolve(false),
      holdsClaims: ({ metadata }) => this.claims.has(metadata.uid),
      resizes: {
        view: () => ({ actuated: this.actuated.get(uid) }),
        onStarted: ignore,
        onResized: ignore,
        onFailed: ignore,
      },
      backoff: {},
      gates: defaultRestartGates,
      deadContainersKept: 1,
      syncFrequencyMs: 60_000,
      startTime: () => this.startTime,
      runtime: () => this.runtimeState,
      clock: this.clock,
      loop: this.loop,
      overTurns: this.overTurns,
      log: this.kept.log,
    };
  }

  /** Makes the intake of PodWorkers: every pod may use what it asks for, and no earlier kubelet terminated one. */
  intake(accept: (pod: Pod) => unknown = ignore, redefine: (pod: Pod) => unknown = ignore): PodWorkersDeps["intake"] {
    return {
      accept: (pod) => void accept(pod),
      allocated: (pod) => pod,
      earlierEnd: () => undefined,
      redefine: (pod) => void redefine(pod),
    };
  }

  /** Pod events, of which only removals count. */
  removals(removed: (uid: string) => unknown = ignore): PodEventStream {
    const events = new PodEventStream(this.kept.log);
    events.subscribe("cluster", { removed: ({ uid }) => void removed(uid) });
    return events;
  }

  begunOf(uid: string): string[] {
    return this.begun.filter((line) => line.startsWith(`${uid} `)).map((line) => line.slice(uid.length + 1));
  }

  private ask(request: InspectRequest): void {
    this.asked.push(request);
    const record = this.answer(request);
    if (record !== undefined) setImmediate(() => this.onRecord(record));
  }

  private doer(uid: string): PodWorkerDeps["doer"] {
    return {
      onObserved: ignore,
      stop: () => Promise.resolve(),
      rest: () => void this.rested.push(uid),
      execute: async (pod, step, signal) => {
        const name =
          step.kind === "start-container" ? ` ${step.container.name}` : "name" in step ? ` ${step.name}` : "";
        this.begun.push(`${uid} ${step.kind}${name}`);
        this.steps.push(step);
        const scripted = this.script(step, signal);
        if (scripted !== undefined) return scripted;
        signal.throwIfAborted();
        this.apply(uid, pod, step);
        return step.kind === "clean-up" || step.kind === "release" ? [] : HINTS;
      },
    };
  }

  apply(uid: string, pod: Pod | undefined, step: Step): void {
    if (step.kind === "release") this.claims.delete(uid);
    const model = pod === undefined ? this.models.get(uid) : this.model(pod);
    model?.apply(step);
  }

  private reports(): PodWorkerDeps["reports"] {
    return {
      onAdmitted: ignore,
      prepare: () => {
        this.prepared++;
        return Promise.resolve();
      },
      onSynced: ({ pod, plan, failures, state, mayRun, ended, end }) => {
        this.synced.push({ pod, plan, failures: new Map(failures), state, mayRun, ended, end });
      },
      isFinal: () => this.isFinal,
      onPass: (operation) => {
        this.passes.push(operation);
      },
      onEnding: (uid, end) => {
        this.endings.push({ uid, end });
        return this.terminationKept;
      },
      onTerminating: (uid, deadline, reason) => {
        this.terminating.push({ uid, deadline, reason });
        return this.terminationKept;
      },
      onLeft: (uid) => {
        this.left.push(uid);
      },
      onTerminated: (uid) => {
        this.terminated.push(uid);
        this.onTerminated(uid);
      },
      onFinished: (uid) => {
        this.finished.push(uid);
      },
    };
  }
}

function eventLine({ type, reason, message }: EventInput): string {
  return `${type} ${reason}: ${message}`;
}
