// What the sync path and the cluster's side know of each other. Stand-alone there is no such side; it may join late, since
// static pods do not wait for it. Nobody waits for an answer.
import type { Pod } from "../../shared/api/pod.js";
import type { PodStatus } from "../../shared/api/pod-status.js";

export interface ClusterPods {
  /** What the API server has of a pod that it gave; undefined: nothing, or it is a static pod. */
  statusOf(uid: string): PodStatus | undefined;
  /** A pod is taken on, or its definition changed; also told of pods that are being deleted. */
  desired(pod: Pod): void;
  /** A status was computed. */
  status(pod: Pod, status: PodStatus): void;
  /** Containers, volumes, cgroup: nothing of the pod is left, and it will not run again unless it is desired anew. */
  gone(uid: string): void;
  /** Every source of static pods has spoken, and their pods have been desired. */
  staticsKnown(): void;
}
