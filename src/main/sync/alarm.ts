// Alarms of a pod: one timer at a time, the active deadline, and the deadline of a stop.
import type { Clock, Timer } from "../../shared/clock/clock.js";
import type { Pod } from "../../shared/api/pod.js";
import type { EventInput } from "../model/event-recorder.js";
import { deadlineMessage } from "../status/compute-pod-status.js";
import type { PodFailure } from "../model/refusal.js";
import { backoffMs } from "../../shared/turns/backoff.js";

const DAY_MS = 86_400_000;

/** One moment at a time; never early. */
export class Alarm {
  private timer: Timer | undefined;

  constructor(
    private readonly clock: Clock,
    private readonly ring: () => void,
    /** The clock of the given times; default: wall time. */
    private readonly now: () => number = () => clock.now(),
  ) {}

  /** `at` is milliseconds since the epoch; a moment that has passed rings at the next turn. */
  set(at: number): void {
    this.cancel();
    const left = at - this.now();
    this.timer = this.clock.after(Math.min(Math.max(left, 0), DAY_MS), () => {
      if (this.now() < at) this.set(at);
      else this.ring();
    });
  }

  cancel(): void {
    this.timer?.cancel();
    this.timer = undefined;
  }
}

// activeDeadlineSeconds: how long a pod may be active, counted from the moment this node accepted it.

const late = { reason: "DeadlineExceeded", message: deadlineMessage } as const;
export const deadlineExceeded: PodFailure = { ...late, always: true };
export const deadlineEvent: EventInput = { type: "Normal", ...late };

/** The active deadline of one pod, by wall time, because it counts over restarts of the kubelet and the machine. */
export class ActiveDeadline {
  private readonly alarm: Alarm;

  /** `startTime`: when this node accepted the pod, once it is known. `onOver` is called when the deadline that was set has come. */
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

// Bounds a stop. A stop call that does not return after the grace period must not block the pod for ever.

/** Time the runtime gets beyond the grace, to kill and to clean up; doubled with each stop that took longer. */
const PATIENCE = { initialMs: 10_000, maxMs: 120_000 };
/** A stop always gets this much, even without a rest of the grace period. */
const MIN_STOP_MS = 2000;

export class StopWatch {
  private overdue = 0;

  constructor(
    private readonly clock: Clock,
    /** Aborts the pending stop. */
    private readonly onOverdue: () => void,
  ) {}

  /** Settles as `stop` does. `deadline`: by the steady clock. */
  async during(deadline: number, stop: () => Promise<void>): Promise<void> {
    const steady = (): number => this.clock.steady();
    const onOverdue = (): void => {
      this.overdue++;
      this.onOverdue();
    };
    const alarm = new Alarm(this.clock, onOverdue, steady);
    const patience = backoffMs(PATIENCE, this.overdue + 1);
    alarm.set(Math.max(deadline, steady() + MIN_STOP_MS) + patience);
    try {
      await stop();
    } finally {
      alarm.cancel();
    }
  }
}
