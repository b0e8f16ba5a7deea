// The interface between a pod worker and the rest of the sync path: its states, collaborators and events.
import type { Pod } from "../../shared/api/pod.js";
import type { Clock } from "../../shared/clock/clock.js";
import type { RuntimeState } from "../../shared/contracts/pleg.js";
import type { ObservedPod } from "../../shared/cri/observed-pod.js";
import type { Logger } from "../../shared/log/logger.js";
import type { AdmissionVerdict } from "../admission/verdict.js";
import type { EventRecorder } from "../model/event-recorder.js";
import type { WorkerOperation } from "./metrics.js";
import type { ProbedPodState, ProbeResults } from "../model/probe-port.js";
import type { Resizes } from "../resources/allocation/resizes.js";
import type { BackoffOptions } from "../planner/crash-backoff.js";
import type { StartFailure } from "../planner/plan-context.js";
import type { PodCache } from "./pod-cache.js";
import type { RestartGates } from "../model/restart.js";
import type { Plan } from "../model/step.js";
import type { PodFailure } from "../model/refusal.js";
import type { StepDoer } from "../model/step-doer.js";

export type PodWorkerState = "admitting" | "syncing" | "ending" | "finished" | "terminating" | "terminated";

/** The pod is terminating or terminated. */
export function isEnding(state: PodWorkerState | undefined): boolean {
  return state !== undefined && state !== "admitting" && state !== "syncing";
}

/** A termination of a pod that no source wants: the pod is removed completely. */
export interface TerminationRequest {
  /** By the steady clock. */
  deadline: number;
  reason: string;
}

/** Cause and deadline of the termination of a pod that its source still wants. Its status stays. */
export interface PodEnd {
  /** completed: its containers completed; rejected: admission rejected it; failed: the kubelet terminates it. */
  cause: "completed" | "rejected" | "failed";
  /** Reason and message of its status; undefined for a pod whose containers completed. */
  failure?: PodFailure;
  /** By the steady clock. */
  deadline: number;
}

/** The pod after an observation and a plan. */
export interface SyncedPod {
  pod: Pod;
  observed: ObservedPod;
  plan: Plan;
  failures: ReadonlyMap<string, StartFailure>;
  state: ProbedPodState;
  /** A container of it runs, or may start. */
  mayRun: boolean;
  /** The pod is terminated: no container runs or will start again. Reported once. */
  ended: boolean;
  end?: PodEnd;
  /** The container whose postStart hook runs: the container runs, and has not started yet. */
  inPostStart?: string;
}

/** Events of a pod worker. */
export interface PodWorkerEvents {
  /** The pod's state or waits changed: its status is computed again. */
  onSynced(synced: SyncedPod): void;
  /** One pass ended, with or without success. */
  onPass(operation: WorkerOperation, durationMs: number): void;
  /**
   * The pod is being ended, though its source still wants it. Settles as onTerminating does. Called again when the
   * deadline moves.
   */
  onEnding(uid: string, end: PodEnd): Promise<void>;
  /** Settles when the deadline is persisted, or cannot be: no stop is sent before. */
  onTerminating(uid: string, deadline: number, reason: string): Promise<void>;
  onTerminated(uid: string): void;
  /**
   * The pod is terminated, though its source still wants it: no container runs, and its volumes and cgroup are
   * released.
   */
  onFinished?(uid: string): void;
}

interface KeptEnd {
  endDeadline(uid: string): number | undefined;
  /** Settles when it is written, could not be, or takes too long. undefined: there is no deadline any more. */
  keepEndDeadline(uid: string, endDeadline: number | undefined): Promise<void>;
}

export interface PodWorkerDeps {
  cache: PodCache;
  probes: ProbeResults;
  doer: StepDoer;
  events: PodWorkerEvents;
  recorder: EventRecorder;
  /** Settles in the order of the calls; rejects with the signal's reason. */
  admit(pod: Pod, signal: AbortSignal): Promise<AdmissionVerdict>;
  /** Persists the deadline of a completed pod's sidecars. */
  keptEnd: KeptEnd;
  /** Containers of the pod run outside the pod's cgroup. */
  isCgroupLost(pod: Pod): Promise<boolean>;
  /** RFC 3339, when this node accepted the pod: status.startTime. */
  startTime(uid: string): string | undefined;
  resizes: Pick<Resizes, "view" | "onStarted" | "onResized" | "onFailed">;
  /** The last status of the runtime. */
  runtime(): RuntimeState | undefined;
  clock: Clock;
  log: Logger;
  /** Back-off of crashing containers; a missing value means the standard one. */
  backoff: Partial<BackoffOptions>;
  gates: RestartGates;
  /** Number of exited containers of a name that stay; negative: all. */
  deadContainersKept: number;
  /** A pod without changes is synced this often, ms. */
  syncFrequencyMs: number;
}
