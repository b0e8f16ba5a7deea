// What the sync path's own parts do on each event of a pod. Their order, and that of other subscribers, is in pod-events.ts.
import type { PodSubscriber, PodSubscriberName } from "./pod-events.js";
import type { SyncParts } from "./sync-parts.js";

export function ownSubscribers(parts: SyncParts): Partial<Record<PodSubscriberName, PodSubscriber>> {
  const { runtime, probes } = parts.deps;
  return {
    pleg: { removed: ({ uid }) => parts.cgroupWatches.removed(uid) },
    objects: { removed: ({ uid }) => runtime.cluster?.()?.podGone(uid) },
    cache: { removed: ({ uid }) => parts.cache.forget(uid) },
    records: {
      admitted: ({ pod }) => parts.records.admitted(pod.metadata.uid),
      removed: ({ uid }) => parts.records.forget(uid),
    },
    statuses: { removed: ({ uid }) => parts.statuses.forget(uid) },
    "plan-events": { removed: ({ uid }) => parts.planEvents.forget(uid) },
    events: { removed: ({ uid }) => runtime.events.forget?.(uid) },
    admission: {
      terminated: ({ uid }) => parts.admission.forget(uid),
      removed: ({ uid }) => parts.admission.forget(uid),
    },
    resizes: {
      admitted: ({ pod }) => parts.resizes.onAdmitted(pod),
      terminated: ({ uid }) => parts.resizes.onOver(uid),
      removed: ({ uid }) => parts.resizes.onGone(uid),
    },
    probes: {
      // A container is probed when its postStart hook is over.
      synced: ({ pod, observed, state, inPostStart }) => {
        if (inPostStart === undefined) probes.podSynced(pod, observed, state);
      },
      removed: ({ uid }) => probes.podGone(uid),
    },
  };
}
