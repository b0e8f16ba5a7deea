// Events as `kubectl get events` shows them: changes of a pod or the node, with reasons and messages that tools match.
// The component that acts records the event here; the recorder forwards it to memory, log and API server.

import type { EventReason } from "../../shared/kubernetes/api/event-reasons.js";
import type { EventType, ObjectReference } from "../../shared/kubernetes/api/event.js";
import type { Pod } from "../../shared/kubernetes/api/pod.js";
import type { PodUid } from "../../shared/kubernetes/identifiers.js";

export interface EventInput {
  type: EventType;
  /** A row of event-reasons.ts. */
  reason: EventReason;
  message: string;
  /** The container that the event is about: its field path becomes part of the involved object. */
  container?: string | undefined;
  annotations?: Readonly<Record<string, string>>;
}

export interface EventRecorder {
  /** Never throws and never waits: an event that can't be kept is counted. */
  pod(pod: Pod, event: EventInput): void;
  node(event: Omit<EventInput, "container">): void;
  /** The pod with this UID is removed: drops the data for counting repeated events of the pod. */
  forget?(uid: PodUid): void;
}

/** Events of other objects than pods and the node: claims. */
export interface ObjectEvents {
  object(about: ObjectReference, event: Omit<EventInput, "container">): void;
}
