// Bounds a stop. A stop call that does not return after the grace period must not block the pod for ever.

import type { Clock } from "../../../shared/base/clock/clock.js";
import type { SteadyTime } from "../../../shared/base/clock/moments.js";
import { backoffMs } from "../../../shared/base/turns/backoff.js";
import { Alarm } from "./alarm.js";
import { extraMsOf } from "./stops-apart.js";

/** Time the runtime gets beyond the grace, to kill and to clean up; doubled with each stop that took longer. */
const PATIENCE = { initialMs: 10000, maxMs: 120000 };
/** A stop always gets this much, even without a rest of the grace period. */
const MIN_STOP_MS = 2000;

export class StopWatch {
  private overdue = 0;

  constructor(
    private readonly clock: Clock,
    /** Aborts the pending stop. */
    private readonly onOverdue: () => void,
  ) {}

  /** Settles as `stop` does. @param stops number of containers that it stops */
  async during(deadline: SteadyTime, stops: number, stop: () => Promise<void>): Promise<void> {
    const steady = (): SteadyTime => this.clock.steady();
    const onOverdue = (): void => {
      this.overdue++;
      this.onOverdue();
    };
    const alarm = new Alarm(this.clock, onOverdue, steady);
    const patience = backoffMs(PATIENCE, this.overdue + 1) + extraMsOf(stops);
    alarm.set(Math.max(deadline, steady() + MIN_STOP_MS) + patience);
    try {
      await stop();
    } finally {
      alarm.cancel();
    }
  }
}
