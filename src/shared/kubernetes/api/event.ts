// The v1 Event object, as the node agent writes it (core/v1; the events.k8s.io fields that share the object).

import type * as core from "./gen/core.js";
import type { Time } from "./meta.js";

export type EventType = "Normal" | "Warning";

export interface ObjectReference extends core.ObjectReference {
  kind: string;
  name: string;
  uid: string;
}

export interface Event extends core.Event {
  metadata: { name: string; namespace: string; annotations?: Record<string, string> };
  involvedObject: ObjectReference;
  reason: string;
  message: string;
  source: { component: string; host: string };
  firstTimestamp: Time;
  lastTimestamp: Time;
  count: number;
  type: EventType;
}
