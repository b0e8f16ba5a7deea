// The API server's side of pods, as the sync path sees it. A stand-alone node has none; in a cluster it joins late, since static pods
// do not wait for the API server.
import type { PodStatus } from "../../shared/api/pod-status.js";
import type { PodSubscriber } from "./pod-events.js";

export interface ClusterPods {
  /** The status that the API server has of a pod; undefined: none, or the pod is static. */
  statusOf(uid: string): PodStatus | undefined;
  readonly subscriber: PodSubscriber;
}
