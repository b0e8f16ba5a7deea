// The limits of pulls: their rate (registryPullQPS, registryBurst), their order, and the back-off after a failure. The
// rate: a bucket of `burst` tokens that fills by `qps` a second. A pull without a token fails at once and is repeated
// after its back-off. So a node that starts a hundred pods does not flood a registry.

import type { Clock } from "../../../shared/base/clock/clock.js";

export class PullRateError extends Error {
  override readonly name = "PullRateError";
  constructor() {
    super("pull QPS exceeded");
  }
}

export class PullRate {
  private tokens: number;
  private filledAt: number;

  /** qps 0: no limit. */
  constructor(
    private readonly qps: number,
    private readonly burst: number,
    private readonly clock: Pick<Clock, "monotonic">,
  ) {
    this.tokens = burst;
    this.filledAt = clock.monotonic();
  }

  /** Takes a token. Throws PullRateError when there is none. */
  acquire(): void {
    if (this.qps <= 0) return;
    const now = this.clock.monotonic();
    this.tokens = Math.min(this.burst, this.tokens + ((now - this.filledAt) / 1000) * this.qps);
    this.filledAt = now;
    if (this.tokens < 1) throw new PullRateError();
    this.tokens--;
  }
}
