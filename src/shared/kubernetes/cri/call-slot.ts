// The places of the calls of one CRI verb: how many run at once, and how long each waits and takes.

import type { Clock, Timer } from "../../base/clock/clock.js";
import type { Attempt } from "./attempt.js";
import { Limiter } from "./limiter.js";
import { ServiceLimit } from "./service-limit.js";

/**
 * A call that takes longer no longer counts among those of its verb. The limits are there for bursts; without this,
 * sixty-four containers that ignore SIGTERM during a long grace period would keep all others from being stopped.
 */
const LONG_CALL_MS = 2000;

/** The places for the calls of one verb. */
export interface CallPlaces {
  limiter: Limiter;
  /** Absent: the limit never changes. */
  limit?: ServiceLimit;
}

export function callPlaces(limit: number | { from: number; to: number }, clock: Clock): CallPlaces {
  if (typeof limit === "number") return { limiter: new Limiter(limit, clock) };
  const follows = new ServiceLimit(limit.from, limit.to);
  return { limiter: new Limiter(follows, clock), limit: follows };
}

/** A call's place among the calls of its verb, and its time keeping. */
export class CallSlot {
  readonly #clock: Clock;
  readonly #places: CallPlaces | undefined;
  readonly #asked: number;
  #taken: number | undefined;
  /** While the call holds its place. */
  #long: Timer | undefined;

  constructor(clock: Clock, all: CallPlaces | undefined) {
    this.#clock = clock;
    this.#places = all;
    this.#asked = clock.monotonic();
  }

  async acquire({ budgetMs, signal, urgent, onSent }: Attempt): Promise<void> {
    const { limiter, limit } = this.#places ?? {};
    await limiter?.acquire({ timeoutMs: budgetMs, signal, urgent });
    this.#taken = this.#clock.monotonic();
    if (limiter !== undefined) {
      this.#long = this.#clock.after(LONG_CALL_MS, () => {
        limit?.overdue();
        this.#giveBack();
      });
    }
    onSent?.();
  }

  /** The call has ended. Once counts. */
  end(succeeded: boolean): void {
    const { limiter, limit } = this.#places ?? {};
    if (succeeded && limiter !== undefined) limit?.ended(this.durationMs, limiter.waiting > 0);
    this.#giveBack();
  }

  #giveBack(): void {
    if (this.#long === undefined) return;
    this.#long.cancel();
    this.#long = undefined;
    this.#places?.limiter.release();
  }

  get queuedMs(): number {
    return (this.#taken ?? this.#clock.monotonic()) - this.#asked;
  }
  /** Since the slot was taken. */
  get durationMs(): number {
    return this.#taken === undefined ? 0 : this.#clock.monotonic() - this.#taken;
  }
}
