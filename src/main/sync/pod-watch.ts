// What the sync path tells whoever follows the lives of pods: timelines and metrics. Nobody waits for an answer.
import type { Pod } from "../../shared/api/pod.js";
import type { PodStatus } from "../../shared/api/pod-status.js";
import type { ObservedPod } from "../../shared/cri/observed-pod.js";
import type { WorkerOperation } from "../../shared/metrics/pods.js";

export interface PodWatch {
  /** A source wants the pod, or has changed it. `known`: the agent, or an earlier life of it, had it before. */
  accepted(pod: Pod, known: boolean): void;
  /** The pod was looked at. */
  seen(pod: Pod, observed: ObservedPod): void;
  /** A status was computed that differs from the one before. */
  status(pod: Pod, status: PodStatus): void;
  /** All containers run for the first time in this life of the agent. */
  running(pod: Pod): void;
  /** One pass of a pod's worker ended. */
  passed(operation: WorkerOperation, durationMs: number): void;
  /** A pod was found that no source wants. */
  orphan(): void;
  /** A pod came back under its UID while it was being ended, and starts anew. */
  again(pod: Pod): void;
  /** Nothing is left of the pod. */
  gone(uid: string): void;
}
