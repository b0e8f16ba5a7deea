// Reviews go to the API server as fast as kubeAPIQPS and kubeAPIBurst allow, separately for each kind of review. So
// invalid tokens never delay the access reviews of known clients. When reviews wait, the networks of their clients take
// turns. A client waits for one review of each other network at most, not for all earlier ones of a network.
// Invariant: few reviews wait, for each network and for all; when more come, the oldest of the network with most is
// refused.

import type { Clock } from "../../../shared/base/clock/clock.js";
import type { ReviewLimits } from "../../../shared/contracts/server.js";
import { RateLimit } from "../../../shared/kubernetes/api/client/call/rate-limit.js";

/** With upstream's 50 reviews a second, 2.5 s of work. */
const MAX_WAITING = 128;
/**
 * Limit for one network. A client retries after 429; the API server and scrapers need one review per user and cache
 * period.
 */
const MAX_WAITING_PER_NETWORK = 32;

/** The review was not sent: too many reviews wait. The client gets 429. */
export class TooManyReviewsError extends Error {
  override readonly name = "TooManyReviewsError";
  constructor() {
    super("too many reviews wait for the API server");
  }
}

interface Waiter {
  go(): void;
  refuse(): void;
}

export class ReviewTurns {
  private readonly limit: RateLimit;
  /**
   * Waiting reviews by network, oldest first. The networks are in the order of their turns; none has an empty queue.
   */
  private readonly queues = new Map<string, Waiter[]>();
  private waiting = 0;
  private serving = false;
  /** Never aborted: waiters are refused here, not in the rate limit. */
  private readonly always = new AbortController().signal;

  constructor({ qps, burst }: ReviewLimits, clock: Clock) {
    // 0 is client-go's default of 5 a second, below 0 no limit.
    this.limit = new RateLimit(qps, burst, clock);
  }

  /**
   * Resolves when a review may be sent. Rejects with TooManyReviewsError.
   * @param network of the client
   */
  take(network: string): Promise<void> {
    if (this.waiting === 0 && this.limit.tryTake()) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const waiter = { go: resolve, refuse: () => reject(new TooManyReviewsError()) };
      const queue = this.queues.get(network);
      if (queue === undefined) this.queues.set(network, [waiter]);
      else queue.push(waiter);
      this.waiting++;
      if ((queue?.length ?? 1) > MAX_WAITING_PER_NETWORK) this.shift(network)?.refuse();
      else if (this.waiting > MAX_WAITING) this.shift(this.longest())?.refuse();
      // It never rejects: its signal is never aborted.
      if (!this.serving) void this.serve();
    });
  }

  private async serve(): Promise<void> {
    this.serving = true;
    while (this.waiting > 0) {
      await this.limit.acquire(this.always);
      const [network] = this.queues.keys();
      if (network === undefined) break;
      const waiter = this.shift(network);
      this.toTheEnd(network);
      waiter?.go();
    }
    this.serving = false;
  }

  private toTheEnd(network: string): void {
    const queue = this.queues.get(network);
    if (queue === undefined) return;
    this.queues.delete(network);
    this.queues.set(network, queue);
  }

  private shift(network: string): Waiter | undefined {
    const queue = this.queues.get(network);
    const waiter = queue?.shift();
    if (waiter !== undefined) this.waiting--;
    if (queue?.length === 0) this.queues.delete(network);
    return waiter;
  }

  /** The network with most waiting reviews; of several, the one whose turn is next. */
  private longest(): string {
    let found = "";
    let length = 0;
    for (const [network, queue] of this.queues) if (queue.length > length) [found, length] = [network, queue.length];
    return found;
  }
}
