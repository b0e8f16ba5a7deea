// How many calls are answered: a bucket that fills by so many a second. A monitoring agent that asks without end must not
// keep the main thread from its pods.
import type { Clock } from "../../../shared/clock/clock.js";

/** podresources.md */
const CALLS_PER_SECOND = 100;
const BURST = 10;

export class CallRate {
  private tokens = BURST;
  private filledAt: number;

  constructor(private readonly clock: Pick<Clock, "monotonic">) {
    this.filledAt = clock.monotonic();
  }

  /** @returns false when the call is to be refused */
  allow(): boolean {
    const now = this.clock.monotonic();
    this.tokens = Math.min(BURST, this.tokens + ((now - this.filledAt) / 1000) * CALLS_PER_SECOND);
    this.filledAt = now;
    if (this.tokens < 1) return false;
    this.tokens--;
    return true;
  }
}
