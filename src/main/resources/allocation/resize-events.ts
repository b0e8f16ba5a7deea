// Events of resizes: the desired resources, as JSON that tools read.

import { omitUndefined } from "../../../shared/base/objects/omit-undefined.js";
import type { EventType } from "../../../shared/kubernetes/api/event.js";
import { containersOf } from "../../../shared/kubernetes/api/pod-containers.js";
import { type Pod } from "../../../shared/kubernetes/api/pod.js";
import { featuresMissing } from "../../model/declared-features.js";

export interface ResizeEvent {
  type: EventType;
  reason: string;
  message: string;
}

export function resizeStarted(pod: Pod): ResizeEvent {
  return { type: "Normal", reason: "ResizeStarted", message: `Pod resize started: ${text(pod)}` };
}

export function resizeCompleted(pod: Pod): ResizeEvent {
  return { type: "Normal", reason: "ResizeCompleted", message: `Pod resize completed: ${text(pod)}` };
}

/** `reason` is admission's word: "OutOfcpu". */
export function resizeDeferred(pod: Pod, reason: string, error: string): ResizeEvent {
  return { type: "Warning", reason: "ResizeDeferred", message: `Pod resize ${reason}: ${text(pod, error)}` };
}

export function resizeInfeasible(pod: Pod, error: string): ResizeEvent {
  return { type: "Warning", reason: "ResizeInfeasible", message: `Pod resize Infeasible: ${text(pod, error)}` };
}

export function resizeFailed(pod: Pod, error: string): ResizeEvent {
  return { type: "Warning", reason: "ResizeError", message: `Pod resize error: ${text(pod, error)}` };
}

export function featuresUnavailable(missing: readonly string[]): ResizeEvent {
  return { type: "Warning", reason: "FailedNodeDeclaredFeaturesCheck", message: featuresMissing(missing) };
}

function text({ metadata, spec }: Pod, error?: string): string {
  const containers = containersOf(spec).map(({ name, resources }) => ({
    name,
    resources: resources ?? {},
  }));
  return JSON.stringify(omitUndefined({ containers, generation: metadata.generation ?? 0, error }));
}
