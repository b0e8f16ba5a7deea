// The verdict of admission on a new pod.
import type { Pod } from "../../shared/api/pod.js";

export type AdmissionVerdict =
  | { admit: true }
  /** The pod is shown as Failed with this reason; the message is prefixed with "Pod was rejected: ". */
  | { admit: false; reason: string; message: string };

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

export interface Admission {
  /**
   * May wait, for example for preemption; the next pod is admitted when this promise settles. Called once per pod UID, in the
   * order of arrival, pods of an earlier kubelet process first. Called again only for a terminated pod with a new definition,
   * or after this promise rejected.
   */
  admit(pod: Pod, signal: AbortSignal): Promise<AdmissionVerdict>;
  /** An admitted pod requests other resources; undefined: they are granted from now on. Absent: always granted. */
  resize?(pod: Pod, signal: AbortSignal): Promise<ResizeRefusal | undefined>;
  /** The definition of a pod that was admitted changed; CPU and memory stay those that were granted. */
  updated?(pod: Pod): void;
  /**
   * No container of the pod runs any more, or it is removed: releases its resources. Also called for pods that were
   * never admitted.
   */
  release?(uid: string): void;
}
