// Reviews go to the API server as fast as kubeAPIQPS and kubeAPIBurst allow, for each kind of review by itself: tokens that
// strangers make up never delay the access reviews of clients that are known.
// Invariant: few reviews wait, each for a short time; when more come, the oldest is refused.
import { RateLimit } from "../../../shared/api/client/call/rate-limit.js";
import type { Clock } from "../../../shared/clock/clock.js";
import type { ReviewLimits } from "../../../shared/contracts/server.js";

/** With upstream's 50 reviews a second, 2.5 s of work. */
export const MAX_WAITING = 128;

/** The API server was not asked: too many reviews wait. The client gets 429. */
export class TooManyReviewsError extends Error {
  override readonly name = "TooManyReviewsError";
  constructor() {
    super("too many reviews wait for the API server");
  }
}

export class ReviewTurns {
  private readonly limit: RateLimit;
  /** In the order of age. */
  private readonly waiting = new Set<AbortController>();

  constructor({ qps, burst }: ReviewLimits, clock: Clock) {
    // 0 is client-go's default of 5 a second, below 0 no limit.
    this.limit = new RateLimit(qps, burst, clock);
  }

  /** Resolves when a review may be sent. Rejects with TooManyReviewsError. */
  async take(): Promise<void> {
    if (this.limit.tryTake()) return;
    const turn = new AbortController();
    this.waiting.add(turn);
    if (this.waiting.size > MAX_WAITING) {
      const [oldest] = this.waiting;
      if (oldest !== undefined) this.waiting.delete(oldest);
      oldest?.abort(new TooManyReviewsError());
    }
    try {
      await this.limit.take(turn.signal);
    } finally {
      this.waiting.delete(turn);
    }
  }
}
