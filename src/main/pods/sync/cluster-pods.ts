// What the API server has of this node's pods. A stand-alone node has none; in a cluster it connects late, since static
// pods do not wait for the API server.

import type { PodStatus } from "../../../shared/kubernetes/api/pod-status.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import type { PodSubscriber } from "../../model/pod-events.js";

export interface ClusterPods {
  /** The status that the API server has of a pod; undefined: none, or the pod is static. */
  statusOf(uid: PodUid): PodStatus | undefined;
  /** Pods that have ended on this node, and whose objects the API server holds back. */
  readonly heldPods: { get(uid: PodUid): Pod | undefined; all(): Iterable<Pod> };
  /** The pod is wanted, and its definition is read when there is room for it. */
  waits(uid: PodUid): boolean;
  readonly subscriber: PodSubscriber;
}
