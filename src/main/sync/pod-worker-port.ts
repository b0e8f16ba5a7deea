// What a pod worker and its surroundings know of each other: its states, what it needs, what it tells.
import type { Pod } from "../../shared/api/pod.js";
import type { Clock } from "../../shared/clock/clock.js";
import type { RuntimeState } from "../../shared/contracts/pleg.js";
import type { ObservedPod } from "../../shared/cri/observed-pod.js";
import type { Logger } from "../../shared/log/logger.js";
import type { AdmissionVerdict } from "../admission/verdict.js";
import type { EventRecorder } from "../model/event-recorder.js";
import type { WorkerOperation } from "./metrics.js";
import type { ProbedPodState } from "../model/probe-port.js";
import type { Resizes } from "../resources/allocation/resizes.js";
import type { ProbeResults } from "../model/probe-results.js";
import type { BackoffOptions } from "../planner/crash-backoff.js";
import type { StartFailure } from "../planner/plan-context.js";
import type { PodCache } from "./pod-cache.js";
import type { RestartGates } from "../model/restart.js";
import type { Plan } from "../model/step.js";
import type { PodFailure } from "../model/pod-failure.js";
import type { StepDoer } from "../model/step-doer.js";

export type PodWorkerState = "admitting" | "syncing" | "ending" | "finished" | "terminating" | "terminated";

/** The pod's end has begun, or is over. */
export function isEnding(state: PodWorkerState | undefined): boolean {
  return state !== undefined && state !== "admitting" && state !== "syncing";
}

/** A termination of a pod that no source wants: everything of it is removed. */
export interface TerminationRequest {
  /** By the steady clock. */
  deadline: number;
  reason: string;
}

/** Why a pod that its source still wants is ended, and until when. It stays, to be seen. */
export interface PodEnd {
  /** completed: its containers came to their end; rejected: admission refused it; failed: the kubelet ends it. */
  cause: "completed" | "rejected" | "failed";
  /** What its status says; a pod that completed speaks for itself. */
  failure?: PodFailure;
  /** By the steady clock. */
  deadline: number;
}

/** A pod after it was looked at and planned for. */
export interface SyncedPod {
  pod: Pod;
  observed: ObservedPod;
  plan: Plan;
  failures: ReadonlyMap<string, StartFailure>;
  state: ProbedPodState;
  /** Something of it runs, or may start. */
  mayRun: boolean;
  /** The pod is terminated: nothing of it runs and nothing will start again. Reported once. */
  ended: boolean;
  end?: PodEnd;
  /** The container whose postStart hook is under way: it runs, and has not started yet. */
  inPostStart?: string;
}

/** What a worker tells the outside. */
export interface PodWorkerEvents {
  /** The pod's picture or waits changed: its status is computed anew. */
  onSynced(synced: SyncedPod): void;
  /** One pass ended, well or not. */
  onPass(operation: WorkerOperation, durationMs: number): void;
  /**
   * The pod is being ended, though its source still wants it. Settles as onTerminating does. Called again when the
   * deadline moves.
   */
  onEnding(uid: string, end: PodEnd): Promise<void>;
  /** Settles when the deadline is kept where another kubelet finds it, or can't be: no stop is sent before. */
  onTerminating(uid: string, deadline: number, reason: string): Promise<void>;
  onTerminated(uid: string): void;
  /** The pod is over, though its source still wants it: nothing runs, and its volumes and cgroup are gone. */
  onFinished?(uid: string): void;
}

interface KeptEnd {
  endDeadline(uid: string): number | undefined;
  /** Settles when it is written, could not be, or takes too long. undefined: there is none any more. */
  keepEndDeadline(uid: string, endDeadline: number | undefined): Promise<void>;
}

export interface PodWorkerDeps {
  cache: PodCache;
  probes: ProbeResults;
  doer: StepDoer;
  events: PodWorkerEvents;
  recorder: EventRecorder;
  /** Settles in the order in which it was asked; rejects with the signal's reason. */
  admit(pod: Pod, signal: AbortSignal): Promise<AdmissionVerdict>;
  /** Where the deadline of a completed pod's sidecars outlives the kubelet. Absent: nowhere. */
  keptEnd?: KeptEnd;
  /** Something runs of the pod, and its cgroup is not where it belongs. Absent: never. */
  isCgroupLost?: (pod: Pod) => Promise<boolean>;
  /** RFC 3339, when this node accepted the pod: status.startTime. */
  startTime(uid: string): string | undefined;
  /** Absent: running containers are never resized. */
  resizes?: Pick<Resizes, "view" | "onStarted" | "onResized" | "onFailed">;
  /** What the runtime last said of itself. */
  runtime(): RuntimeState | undefined;
  clock: Clock;
  log: Logger;
  /** Of crashing containers; the standard curve where nothing is given. */
  backoff?: Partial<BackoffOptions>;
  gates?: RestartGates;
  /** Ended containers of a name that stay; negative: all. */
  deadContainersKept?: number;
}
