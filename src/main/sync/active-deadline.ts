// activeDeadlineSeconds: how long a pod may be active, counted from the moment this node accepted it.
import type { Pod } from "../../shared/api/pod.js";
import type { EventInput } from "../events/recorder.js";
import { deadlineMessage, type PodFailure } from "../status/compute-pod-status.js";

export const deadlineExceeded: PodFailure = { reason: "DeadlineExceeded", message: deadlineMessage };
export const deadlineEvent: EventInput = { type: "Normal", ...deadlineExceeded };

/** Milliseconds since the epoch; undefined for a pod without such a deadline. `startTime` is status.startTime. */
export function activeDeadline(pod: Pod | undefined, startTime: string | undefined): number | undefined {
  const seconds = pod?.spec.activeDeadlineSeconds;
  if (seconds === undefined || startTime === undefined) return undefined;
  return Date.parse(startTime) + seconds * 1000;
}
