// A pod's timeline on this node, as /debug/pods/<namespace>/<name>/timeline shows it. Our own format; times are
// milliseconds since the epoch, durations milliseconds.

import type { Event } from "../kubernetes/api/event.js";
import type { PodUid } from "../kubernetes/identifiers.js";

/** One thing the kubelet did for the pod, or waited for. */
export interface TimelineStage {
  /** A step of the planner ("create-sandbox"), or a part of one ("pull", "volumes"). */
  stage: string;
  container?: string;
  startedAt: number;
  /** Absent while it lasts. */
  endedAt?: number;
  durationMs?: number;
  /** Why it failed. */
  error?: string;
}

export interface TimelinePhase {
  at: number;
  phase: string;
  /** status.reason, where there is one. */
  reason?: string;
}

export interface PodTimeline {
  namespace: string;
  name: string;
  uid: PodUid;
  /** Time at which a source first delivered the pod to this kubelet. */
  seenAt: number;
  /** All containers ran for the first time. */
  runningAt?: number;
  /** The pod is removed. */
  goneAt?: number;
  /** From the first delivery to running, without image pulls and init containers: the pod start SLI. */
  startSliMs?: number;
  phases: TimelinePhase[];
  /** In the order in which they began. */
  stages: TimelineStage[];
  /** Stages that were left out because there were too many; the oldest go first. */
  stagesDropped: number;
  events: Event[];
}
