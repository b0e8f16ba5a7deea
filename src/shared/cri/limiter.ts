// Limits the parallel calls of one verb. Waiters are served in the order of arrival; an aborted waiter leaves the queue.
// A released slot always goes to the next waiter before a new call.
import type { Clock } from "../clock/clock.js";
import { WaitingLine } from "../turns/waiting-line.js";
import { abortReason } from "../errors/thrown.js";

export class QueueTimeoutError extends Error {
  override readonly name = "QueueTimeoutError";
}

export interface WaitOptions {
  /** Gives up with QueueTimeoutError after this; undefined waits as long as it takes. */
  timeoutMs?: number | undefined;
  /** Gives up with the signal's reason. */
  signal?: AbortSignal | undefined;
}

export class Limiter {
  readonly #limit: number;
  readonly #clock: Clock;
  readonly #waiters = new WaitingLine<() => void>();
  #running = 0;

  constructor(limit: number, clock: Clock) {
    if (!Number.isInteger(limit) || limit < 1)
      throw new RangeError(`a concurrency limit must be 1 or more, not ${limit}`);
    this.#limit = limit;
    this.#clock = clock;
  }

  get running(): number {
    return this.#running;
  }
  get waiting(): number {
    return this.#waiters.size;
  }

  /** Takes a slot; `release` returns it. */
  async acquire({ timeoutMs, signal }: WaitOptions = {}): Promise<void> {
    signal?.throwIfAborted();
    if (this.#running < this.#limit) {
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
      const place = this.#waiters.add(enter);
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
    const next = this.#waiters.first;
    if (next === undefined) this.#running--;
    else next(); // the slot changes hands: #running stays
  }
}
