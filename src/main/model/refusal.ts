// Why a pod may not run on this node, or a resize is not granted.

import type { EventReason } from "../../shared/kubernetes/api/event-reasons.js";

export interface Refusal {
  reason: EventReason;
  message: string;
  /** Set when room could be made: how much is missing of which resources. */
  missing?: readonly MissingResource[];
}

export interface MissingResource {
  resource: string;
  /** Billionths of the resource's unit. */
  nanos: bigint;
}

/** Why the kubelet itself ends a pod: eviction, preemption, node shutdown. */
export interface PodFailure {
  reason: string;
  message: string;
  /** Text of the DisruptionTarget condition, where one belongs. */
  disruption?: string | undefined;
  /** The pod is Failed although all its containers exited with 0. */
  always?: true;
}
