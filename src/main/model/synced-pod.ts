// The states of a pod worker, and the result of one pass over its pod. Pod events carry this result, and the status is
// computed from it.

import type { SteadyTime } from "../../shared/base/clock/moments.js";
import type { ErrorFacts } from "../../shared/contracts/nodelet.js";
import type { Pod } from "../../shared/kubernetes/api/pod.js";
import type { ObservedPod } from "../../shared/kubernetes/cri/observed-pod.js";
import type { ProbedPodState } from "./probe-port.js";
import type { PodFailure } from "./refusal.js";
import type { Plan } from "./step.js";

export type PodWorkerState = "admitting" | "syncing" | "ending" | "finished" | "terminating" | "terminated";

/** The pod is terminating or terminated. */
export function isEnding(state: PodWorkerState | undefined): boolean {
  return state !== undefined && state !== "admitting" && state !== "syncing";
}

/** Label operation_type of kubelet_pod_worker_duration_seconds. */
export type WorkerOperation = "create" | "update" | "sync" | "kill" | "terminated";

/** A termination of a pod that no source wants: the pod is removed completely. */
export interface TerminationRequest {
  deadline: SteadyTime;
  reason: string;
}

/** Cause and deadline of the termination of a pod that its source still wants. Its status stays. */
export interface PodEnd {
  /** completed: its containers completed; rejected: admission rejected it; failed: the kubelet terminates it. */
  cause: "completed" | "rejected" | "failed";
  /** Reason and message of its status; undefined for a pod whose containers completed. */
  failure?: PodFailure;
  deadline: SteadyTime;
}

/** The last attempt to start a container failed before it ran. */
export interface StartFailure {
  /** Waiting reason, e.g. "ErrImagePull". */
  reason: string;
  message: string;
  failedAt: SteadyTime;
  retryAt: SteadyTime;
  facts?: ErrorFacts | undefined;
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
