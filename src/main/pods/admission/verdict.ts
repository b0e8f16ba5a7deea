// The verdict of admission on a new pod.

import type { EventReason } from "../../../shared/kubernetes/api/event-reasons.js";

export type AdmissionVerdict =
  | { admit: true }
  /** The pod is shown as Failed with this reason; the message is prefixed with "Pod was rejected: ". */
  | { admit: false; reason: EventReason; message: string };

/** A resize that is not granted. */
export interface ResizeRefusal {
  reason: string;
  message: string;
  /**
   * The pod can never fit on this node: the reason label of kubelet_pod_infeasible_resizes_total. Absent: it may fit
   * later.
   */
  infeasible?: string;
}
