// Pods as the servers' threads show them: a pod whose containers are being stopped shows it, whatever its source says,
// and a pod that the API holds back by finalizers stays in the list.
// Invariant: a pod that is shown again without a change is the same object, so that its text is not sent again.

import type { Clock } from "../../../shared/base/clock/clock.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import { withTerminationMark } from "../../../shared/kubernetes/api/termination-mark.js";
import { apiTime } from "../../../shared/kubernetes/api/time.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import type { PodDelta } from "../../model/pod-delta.js";
import type { PodWorkerState, TerminationRequest } from "../../model/synced-pod.js";

interface StoppingWorker {
  readonly state: PodWorkerState;
  /** Why and until when its containers are stopped; undefined: they are not. */
  readonly stopping: TerminationRequest | undefined;
}

export interface ShownPodsDeps {
  worker: (uid: PodUid) => StoppingWorker | undefined;
  /** The pod of that UID that has ended and whose object the API holds back. */
  heldPod: (uid: PodUid) => Pod | undefined;
  clock: Pick<Clock, "now" | "steady">;
}

export class ShownPods {
  /** Metadata as it is shown, by the pod's own and for one deadline. */
  private readonly made = new WeakMap<Pod["metadata"], { deadline: number; metadata: Pod["metadata"] }>();

  constructor(private readonly deps: ShownPodsDeps) {}

  delta({ set, removed }: PodDelta): PodDelta {
    const held = removed.flatMap((uid) => this.deps.heldPod(uid) ?? []);
    if (held.length === 0) return { set: set.map((pod) => this.shown(pod)), removed };
    const stay = new Set(held.map(({ metadata }) => metadata.uid));
    return { set: [...set.map((pod) => this.shown(pod)), ...held], removed: removed.filter((uid) => !stay.has(uid)) };
  }

  /** The pod itself, or with its termination. */
  shown(pod: Pod): Pod {
    if (pod.metadata.deletionTimestamp !== undefined) return pod;
    const worker = this.deps.worker(pod.metadata.uid);
    const stopping = worker?.stopping;
    if (worker === undefined || stopping === undefined) return pod;
    const known = this.made.get(pod.metadata);
    if (known?.deadline === stopping.deadline) return { ...pod, metadata: known.metadata };
    const metadata = worker.state === "terminating" ? this.deleted(pod, stopping) : stopped(pod);
    this.made.set(pod.metadata, { deadline: stopping.deadline, metadata });
    return { ...pod, metadata };
  }

  /** No source wants it any more. As in the API, the time is the end of the grace period. */
  private deleted({ metadata }: Pod, { deadline }: TerminationRequest): Pod["metadata"] {
    const { clock } = this.deps;
    return { ...metadata, deletionTimestamp: apiTime(Math.round(deadline + clock.now() - clock.steady())) };
  }
}

function stopped(pod: Pod): Pod["metadata"] {
  return withTerminationMark(pod, "stopping").metadata;
}
