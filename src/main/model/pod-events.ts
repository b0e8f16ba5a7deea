// The events of the pods of this node, as one typed stream. To see what happens when a pod is admitted or removed,
// search for the event's name. The subscribers are the only listeners.
//
//   accepted ──▶ admitted ──▶ stopping ──▶ terminated ──▶ cleanedUp ···▶ left ──▶ workerDone ──▶ removed
//                    └──▶ synced, statusComputed …               └──▶ statusFinal
//
// The end has five stages. `terminated`: no container runs. `cleanedUp`: volumes and cgroup are released, and a source
// still wants the object. `left`: no source wants it, and its files are removed; its object may go. `workerDone`: the
// runtime's records of it are removed, too. `removed`: the kubelet has forgotten it. A pod that is deleted while it
// runs goes from `terminated` to `left`.
// Invariant: subscribers receive each event in the order of SUBSCRIBERS; an error of one is logged, and the next ones
// receive the event.

import { messageOf } from "../../shared/base/errors/thrown.js";
import type { PodStatus } from "../../shared/kubernetes/api/pod-status.js";
import type { Pod } from "../../shared/kubernetes/api/pod.js";
import type { PodUid } from "../../shared/kubernetes/identifiers.js";
import type { Logger } from "../../shared/telemetry/log/logger.js";
import type { PodFailure } from "./refusal.js";
import type { SyncedPod, WorkerOperation } from "./synced-pod.js";

export interface PodEvents {
  /**
   * A source desires the pod, or has changed its definition. `known`: the kubelet had it before, perhaps in an earlier
   * process.
   */
  accepted: { pod: Pod; known: boolean };
  /** The pod was admitted: it uses the node with the resources of `pod`. */
  admitted: { pod: Pod };
  /** The definition of a running pod has changed; `pod` has the allocated resources. */
  updated: { pod: Pod };
  /** The definition of a terminating pod has changed, for example a label: only readers of the definition follow it. */
  redefined: { pod: Pod };
  /** A running pod was allocated other resources. */
  resized: { pod: Pod };
  /** The resize conditions of the pod's status changed. */
  resizeChanged: { uid: PodUid };
  /** A pass of the pod worker has observed the pod. */
  synced: SyncedPod;
  /** A pass of a pod worker ended. */
  passEnded: { operation: WorkerOperation; durationMs: number };
  /** A status was computed; it may equal the one before. */
  statusComputed: { pod: Pod; status: PodStatus };
  /** The status differs from the one before. */
  statusChanged: { pod: Pod; status: PodStatus };
  /** No later status follows: the pod is terminated. */
  statusFinal: { pod: Pod; status: PodStatus };
  /** All containers run for the first time in this process. */
  started: { pod: Pod };
  /** The kubelet begins to stop the pod's containers, or their deadline has moved. */
  stopping: { uid: PodUid };
  /** No container of the pod runs or will start again; its volumes and cgroup may still exist. */
  terminated: { uid: PodUid };
  /**
   * Volumes and cgroup of a terminated pod are released, too; its object and logs stay. Also for pods that were never
   * admitted.
   */
  cleanedUp: { uid: PodUid };
  /** Volumes, cgroup and files of a pod that no source wants are removed; the runtime may still list its sandboxes. */
  left: { uid: PodUid };
  /** The worker of a pod that no source wants has removed everything of the pod. */
  workerDone: { uid: PodUid };
  /** A pod came back under its UID while it was terminating; it starts again. */
  restarted: { pod: Pod };
  /** The pod is removed from the node. */
  removed: { uid: PodUid };
  /** A part that was made before the pod workers cannot let the pod run: the pod ends as Failed. */
  failRequested: { uid: PodUid; failure: PodFailure };
  /** The health of devices of these pods changed. */
  healthChanged: { uids: Iterable<PodUid> };
  /** The runtime had a pod that no source desires. */
  orphanFound: undefined;
  /** Every source has delivered, and all wanted pods have a worker. Once. */
  settled: undefined;
  /** A source of static pods has read, refused or lost a manifest. */
  manifestsChanged: undefined;
  /** Every source of static pods has delivered, and their pods are accepted. */
  staticsKnown: undefined;
}

export type PodSubscriber = { readonly [Kind in keyof PodEvents]?: (event: PodEvents[Kind]) => void };

/** The permitted subscribers, in the order in which they receive an event. */
const SUBSCRIBERS = [
  "workers",
  "volumes",
  "cgroups",
  "pleg",
  "objects",
  "cache",
  "records",
  "statuses",
  "plan-events",
  "events",
  "admission",
  "resizes",
  "probes",
  "timelines",
  "eviction",
  "cluster",
  "pods-api",
  "manifests",
  "later-fields",
  "other-threads",
] as const;
export type PodSubscriberName = (typeof SUBSCRIBERS)[number];

export class PodEventStream {
  private readonly subscribers = new Map<PodSubscriberName, PodSubscriber>();

  constructor(private readonly log: Logger) {}

  /** Subscribes from now on; late subscribers get no earlier events. @throws Error when the name is taken */
  subscribe(name: PodSubscriberName, subscriber: PodSubscriber): void {
    if (this.subscribers.has(name)) throw new Error(`${name} is already subscribed to pod events`);
    this.subscribers.set(name, subscriber);
  }

  /** Returns after every subscriber has run; never throws. */
  emit<Kind extends keyof PodEvents>(kind: Kind, event: PodEvents[Kind]): void {
    for (const name of SUBSCRIBERS) {
      const hear = this.subscribers.get(name)?.[kind];
      if (hear === undefined) continue;
      try {
        hear(event);
      } catch (error) {
        this.log.error(
          { err: error, subscriber: name, event: kind },
          `${name} failed on "${kind}" of a pod: ${messageOf(error)}`,
        );
      }
    }
  }
}
