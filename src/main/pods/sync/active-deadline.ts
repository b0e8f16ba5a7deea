// activeDeadlineSeconds: how long a pod may be active, counted from the moment this node accepted it.

import type { Clock } from "../../../shared/base/clock/clock.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import type { EventInput } from "../../model/event-recorder.js";
import type { PodFailure } from "../../model/refusal.js";
import { deadlineMessage } from "../status/compute-pod-status.js";
import { Alarm } from "./alarm.js";

const late = { reason: "DeadlineExceeded", message: deadlineMessage } as const;
export const deadlineExceeded: PodFailure = { ...late, always: true };
export const deadlineEvent: EventInput = { type: "Normal", ...late };

/** The active deadline of one pod, by wall time, because it counts over restarts of the kubelet and the machine. */
export class ActiveDeadline {
  private readonly alarm: Alarm;

  /**
   * `startTime`: when this node accepted the pod, once it is known. `onOver` is called when the deadline that was set
   * has come.
   */
  constructor(
    private readonly clock: Clock,
    private readonly startTime: () => string | undefined,
    onOver: () => void,
  ) {
    this.alarm = new Alarm(clock, onOver);
  }

  isOver(pod: Pod): boolean {
    const at = activeDeadline(pod, this.startTime());
    return at !== undefined && at <= this.clock.now();
  }

  /** undefined: no pod worker waits for it any more. */
  set(pod: Pod | undefined): void {
    const at = activeDeadline(pod, this.startTime());
    if (at === undefined) this.alarm.cancel();
    else this.alarm.set(at);
  }
}

/** Milliseconds since the epoch; undefined for a pod without such a deadline. */
function activeDeadline(pod: Pod | undefined, startTime: string | undefined): number | undefined {
  const seconds = pod?.spec.activeDeadlineSeconds;
  if (seconds === undefined || startTime === undefined) return undefined;
  const at = Date.parse(startTime) + seconds * 1000;
  return Number.isNaN(at) ? undefined : at;
}
