// Alarms of a pod: one timer at a time, the active deadline, and the deadline of a stop.

import type { Clock, Timer } from "../../../shared/base/clock/clock.js";

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
