// The reactions of the sync path's own components to pod events. Their order, and that of other subscribers, is in pod-events.ts.
import type { PodSubscriber, PodSubscriberName } from "../model/pod-events.js";
import type { SyncComponents } from "./sync-components.js";

export function ownSubscribers(components: SyncComponents): Partial<Record<PodSubscriberName, PodSubscriber>> {
  const { runtime, probes } = components.deps;
  return {
    workers: {
      resized: ({ pod }) => components.workers.get(pod.metadata.uid)?.setPod(pod),
      workerDone: ({ uid }) => components.workers.terminated(uid),
    },
    volumes: { resized: ({ pod }) => runtime.volumes.podChanged(pod) },
    pleg: { removed: ({ uid }) => components.cgroupWatches.removed(uid) },
    objects: { removed: ({ uid }) => runtime.cluster?.()?.podRemoved(uid) },
    cache: { removed: ({ uid }) => components.cache.forget(uid) },
    records: {
      admitted: ({ pod }) => components.records.admitted(pod.metadata.uid),
      statusFinal: ({ pod, status }) => components.records.ended(pod.metadata.uid, status),
      removed: ({ uid }) => components.records.forget(uid),
    },
    statuses: {
      stopping: ({ uid }) => components.statuses.republish(uid),
      resizeChanged: ({ uid }) => components.statuses.refresh(uid),
      removed: ({ uid }) => components.statuses.forget(uid),
    },
    "plan-events": { removed: ({ uid }) => components.planEvents.forget(uid) },
    events: { removed: ({ uid }) => runtime.events.forget?.(uid) },
    admission: {
      terminated: ({ uid }) => components.admission.forget(uid),
      removed: ({ uid }) => components.admission.forget(uid),
    },
    resizes: {
      admitted: ({ pod }) => components.resizes.onAdmitted(pod),
      terminated: ({ uid }) => components.resizes.onOver(uid),
      removed: ({ uid }) => components.resizes.onRemoved(uid),
    },
    probes: {
      // Probes of a container start after its postStart hook.
      synced: ({ pod, observed, state, inPostStart }) => {
        if (inPostStart === undefined) probes.podSynced(pod, observed, state);
      },
      removed: ({ uid }) => probes.podRemoved(uid),
    },
  };
}
