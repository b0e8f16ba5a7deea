// Limits the parallel calls of one verb. Waiters are served in the order of arrival, urgent ones before all others; an
// aborted waiter leaves the queue. A released slot always goes to the next waiter before a new call.

import type { Clock } from "../../base/clock/clock.js";
import { abortReason } from "../../base/errors/thrown.js";
import { WaitingLine } from "../../base/turns/waiting-line.js";

export class QueueTimeoutError extends Error {
  override readonly name = "QueueTimeoutError";
}

export interface WaitOptions {
  /** Gives up with QueueTimeoutError after this; undefined waits as long as it takes. */
  timeoutMs?: number | undefined;
  /** Gives up with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Goes before all waiters that are not urgent. */
  urgent?: boolean | undefined;
}

/** The limit at this moment: a whole number, 1 or more. */
export interface Limit {
  readonly current: number;
}

export class Limiter {
  readonly #limit: Limit;
  readonly #clock: Clock;
  readonly #urgent = new WaitingLine<() => void>();
  readonly #waiters = new WaitingLine<() => void>();
  #running = 0;

  constructor(limit: number | Limit, clock: Clock) {
    if (typeof limit === "number" && (!Number.isInteger(limit) || limit < 1))
      throw new RangeError(`a concurrency limit must be 1 or more, not ${limit}`);
    this.#limit = typeof limit === "number" ? { current: limit } : limit;
    this.#clock = clock;
  }

  get running(): number {
    return this.#running;
  }
  get waiting(): number {
    return this.#urgent.size + this.#waiters.size;
  }

  /** Takes a slot; `release` returns it. */
  async acquire({ timeoutMs, signal, urgent = false }: WaitOptions = {}): Promise<void> {
    signal?.throwIfAborted();
    if (this.#running < this.#limit.current && this.waiting === 0) {
      this.#running++;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const leave = (): void => {
        place.leave();
        timer?.cancel();
        signal?.removeEventListener("abort", onAbort);
      };
      const enter = (): void => {
        leave();
        resolve();
      };
      const onAbort = (): void => {
        leave();
        reject(abortReason(signal));
      };
      const place = (urgent ? this.#urgent : this.#waiters).add(enter);
      const timer =
        timeoutMs === undefined
          ? undefined
          : this.#clock.after(timeoutMs, () => {
              leave();
              reject(new QueueTimeoutError(`no free slot within ${timeoutMs} ms`));
            });
      signal?.addEventListener("abort", onAbort, { once: true });
    });
  }

  release(): void {
    this.#running--;
    this.fill();
  }

  /** Gives free places to those that wait. Call when the limit has grown. */
  fill(): void {
    while (this.#running < this.#limit.current) {
      const next = this.#urgent.first ?? this.#waiters.first;
      if (next === undefined) return;
      this.#running++;
      next();
    }
  }
}
