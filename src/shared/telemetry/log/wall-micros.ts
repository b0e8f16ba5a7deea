// Wall time to the microsecond for log lines. The wall clock counts milliseconds; the monotonic clock fills in the
// rest.
// Invariant: the result lies within the wall clock's current millisecond, so a clock that is set is followed at once.

import type { Clock } from "../../base/clock/clock.js";

/** The largest fraction that still belongs to a millisecond. */
const LAST_MICRO = 0.999;

export class WallMicros {
  /** Wall time minus monotonic time. */
  private offset = 0;

  constructor(private readonly clock: Pick<Clock, "now" | "monotonic">) {}

  /** Milliseconds since the epoch, with three decimals. */
  now(): number {
    const wall = this.clock.now();
    const monotonic = this.clock.monotonic();
    let fraction = monotonic + this.offset - wall;
    if (fraction < 0 || fraction > LAST_MICRO) {
      fraction = fraction < 0 ? 0 : LAST_MICRO;
      // A jump is no drift: begin again at the wall clock's millisecond.
      if (Math.abs(monotonic + this.offset - wall) > 2) fraction = 0;
      this.offset = wall + fraction - monotonic;
    }
    return wall + Math.floor(fraction * 1000) / 1000;
  }
}
