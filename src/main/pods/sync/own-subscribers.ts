// The reactions of the sync path's own components to pod events. Their order, and that of other subscribers, is in
// pod-events.ts.

import type { NodeRuntime } from "../../containers/runtime/node-runtime.js";
import type { PodSubscriber, PodSubscriberName } from "../../model/pod-events.js";
import type { AdmissionQueue } from "../admission/admission-queue.js";
import type { Resizes } from "../admission/resizes.js";
import type { PlanEvents } from "../planner/plan-events.js";
import type { ProbeManager } from "../probes/probe-manager.js";
import type { PodStatuses } from "../status/pod-statuses.js";
import type { PodCgroupWatches } from "./pod-cgroup-watches.js";
import type { PodState } from "./pod-state.js";
import type { PodWorkers } from "./pod-workers.js";

interface Parts {
  state: PodState;
  runtime: NodeRuntime;
  probes: Pick<ProbeManager, "podSynced" | "podRemoved">;
  workers: PodWorkers;
  admission: AdmissionQueue;
  resizes: Resizes;
  statuses: PodStatuses;
  planEvents: PlanEvents;
  cgroupWatches: PodCgroupWatches;
}

export function ownSubscribers(parts: Parts): Partial<Record<PodSubscriberName, PodSubscriber>> {
  const { state, runtime, probes, workers, admission, resizes, statuses, planEvents, cgroupWatches } = parts;
  const { pods, cache, records } = state;
  return {
    workers: {
      resized: ({ pod }) => pods.get(pod.metadata.uid)?.setPod(pod),
      workerDone: ({ uid }) => workers.terminated(uid),
      failRequested: ({ uid, failure }) => workers.beginFailure(uid, failure),
    },
    volumes: { resized: ({ pod }) => runtime.volumes.podChanged(pod) },
    pleg: { removed: ({ uid }) => cgroupWatches.removed(uid) },
    objects: { removed: ({ uid }) => runtime.cluster?.()?.podRemoved(uid) },
    cache: { removed: ({ uid }) => cache.forget(uid) },
    records: {
      admitted: ({ pod }) => records.admitted(pod.metadata.uid),
      statusFinal: ({ pod, status }) => records.ended(pod.metadata.uid, status),
      removed: ({ uid }) => records.forget(uid),
    },
    statuses: {
      stopping: ({ uid }) => statuses.republish(uid),
      resizeChanged: ({ uid }) => statuses.refresh(uid),
      healthChanged: ({ uids }) => [...uids].forEach((uid) => statuses.refresh(uid)),
      removed: ({ uid }) => statuses.forget(uid),
    },
    "plan-events": { removed: ({ uid }) => planEvents.forget(uid) },
    events: { removed: ({ uid }) => runtime.events.forget?.(uid) },
    admission: {
      terminated: ({ uid }) => admission.forget(uid),
      removed: ({ uid }) => admission.forget(uid),
    },
    resizes: {
      admitted: ({ pod }) => resizes.onAdmitted(pod),
      terminated: ({ uid }) => resizes.onOver(uid),
      removed: ({ uid }) => resizes.onRemoved(uid),
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
