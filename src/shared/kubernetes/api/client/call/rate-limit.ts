// client-go's client-side throttling: a bucket of tokens, refilled at `qps`, holding `burst`. First come, first served.

import type { Clock, Timer } from "../../../../base/clock/clock.js";
import { abortReason } from "../../../../base/errors/thrown.js";

/** client-go's own defaults, for 0. */
const DEFAULT_QPS = 5;
const DEFAULT_BURST = 10;

interface Waiter {
  go(): void;
}

export class RateLimit {
  private readonly qps: number;
  private readonly burst: number;
  private tokens: number;
  private filledAt: number;
  private readonly queue: Waiter[] = [];
  private timer: Timer | undefined;

  /** `qps` 0: the default; below 0: no limit. */
  constructor(
    qps: number,
    burst: number,
    private readonly clock: Clock,
  ) {
    this.qps = qps === 0 ? DEFAULT_QPS : qps;
    this.burst = burst <= 0 ? DEFAULT_BURST : burst;
    this.tokens = this.burst;
    this.filledAt = clock.monotonic();
  }

  /** @returns milliseconds waited. Rejects with the signal's reason. */
  async acquire(signal: AbortSignal): Promise<number> {
    signal.throwIfAborted();
    if (this.tryTake()) return 0;
    const since = this.clock.monotonic();
    await this.inTurn(signal);
    return this.clock.monotonic() - since;
  }

  /** False: the caller would have to wait. */
  tryTake(): boolean {
    if (this.qps < 0) return true;
    this.refill();
    if (this.queue.length > 0 || this.tokens < 1) return false;
    this.tokens -= 1;
    return true;
  }

  private inTurn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        this.queue.splice(this.queue.indexOf(waiter), 1);
        this.schedule();
        reject(abortReason(signal));
      };
      const waiter: Waiter = {
        go: () => {
          signal.removeEventListener("abort", onAbort);
          resolve();
        },
      };
      signal.addEventListener("abort", onAbort, { once: true });
      this.queue.push(waiter);
      this.schedule();
    });
  }

  private refill(): void {
    const now = this.clock.monotonic();
    this.tokens = Math.min(this.burst, this.tokens + ((now - this.filledAt) * this.qps) / 1000);
    this.filledAt = now;
  }

  /** One timer, for the first in the queue. */
  private schedule(): void {
    if (this.queue.length === 0) {
      this.timer?.cancel();
      this.timer = undefined;
    } else {
      this.timer ??= this.clock.after(Math.max(1, ((1 - this.tokens) * 1000) / this.qps), () => this.serve());
    }
  }

  private serve(): void {
    this.timer = undefined;
    this.refill();
    while (this.tokens >= 1) {
      const next = this.queue.shift();
      if (next === undefined) break;
      this.tokens -= 1;
      next.go();
    }
    this.schedule();
  }
}
