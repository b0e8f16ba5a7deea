// Events that plans cause. The kubelet makes the same plan repeatedly while nothing changes. It records an event once,
// and again only after a plan without it.

import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import type { EventRecorder } from "../../model/event-recorder.js";
import type { PlannedEvent } from "../../model/step.js";

export class PlanEvents {
  /** UID to the keys of its newest plan. */
  private readonly emitted = new Map<PodUid, ReadonlySet<string>>();

  constructor(private readonly recorder: Pick<EventRecorder, "pod">) {}

  emit(pod: Pod, events: readonly PlannedEvent[]): void {
    const { uid } = pod.metadata;
    const before = this.emitted.get(uid);
    for (const { key, event } of events) if (before?.has(key) !== true) this.recorder.pod(pod, event);
    if (events.length === 0) this.emitted.delete(uid);
    else this.emitted.set(uid, new Set(events.map(({ key }) => key)));
  }

  forget(uid: PodUid): void {
    this.emitted.delete(uid);
  }
}
