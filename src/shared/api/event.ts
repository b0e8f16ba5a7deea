// The v1 Event object, as the node agent writes it (core/v1; the events.k8s.io fields that share the object).
import type { ApiObject } from "./client/port.js";
import type { Time } from "./meta.js";

export type EventType = "Normal" | "Warning";

export interface ObjectReference {
  kind: string;
  namespace?: string;
  name: string;
  uid: string;
  apiVersion?: string;
  /** Part of the object, e.g. "spec.containers{web}". */
  fieldPath?: string;
}

export interface Event extends ApiObject {
  metadata: { name: string; namespace: string; annotations?: Record<string, string> };
  involvedObject: ObjectReference;
  reason: string;
  message: string;
  source: { component: string; host: string };
  firstTimestamp: Time;
  lastTimestamp: Time;
  count: number;
  type: EventType;
  reportingComponent: string;
  reportingInstance: string;
}
