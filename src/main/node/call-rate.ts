// Rate limit for calls to a service of this node: a token bucket. A monitoring agent that calls without pause must not
// delay the pods on the main thread.

import type { Clock } from "../../shared/base/clock/clock.js";

/** Upstream's rate limit. */
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
