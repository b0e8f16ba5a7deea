// The places of the calls of one CRI verb: how many run at once, and how long each waits and takes.

import type { Clock, Timer } from "../../base/clock/clock.js";
import type { Attempt } from "./attempt.js";
import { IdleLimit } from "./idle-limit.js";
import { IdleWatch, type Processors } from "./idle-watch.js";
import { Limiter } from "./limiter.js";

/**
 * A call that takes longer no longer counts among those of its verb. The limits are there for bursts; without this,
 * sixty-four containers that ignore SIGTERM during a long grace period would keep all others from being stopped.
 */
const LONG_CALL_MS = 2000;

/** Bounds of a limit that follows the idle processors of the machine. */
export interface IdleBounds {
  from: number;
  to: number;
  processors: Processors;
}

/** The places for the calls of one verb. */
export interface CallPlaces {
  limiter: Limiter;
  /** Absent: the limit never changes. */
  watch?: IdleWatch;
}

export function callPlaces(limit: number | IdleBounds, clock: Clock): CallPlaces {
  if (typeof limit === "number") return { limiter: new Limiter(limit, clock) };
  const follows = new IdleLimit(limit.from, limit.to);
  const limiter = new Limiter(follows, clock);
  return { limiter, watch: new IdleWatch(limit.processors, follows, limiter, clock) };
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

  async acquire({ totalMs, signal, urgent, onSent }: Attempt): Promise<void> {
    const { limiter, watch } = this.#places ?? {};
    const place = limiter?.acquire({ timeoutMs: totalMs, signal, urgent });
    if (limiter !== undefined && limiter.waiting > 0) watch?.start();
    await place;
    this.#taken = this.#clock.monotonic();
    if (limiter !== undefined) this.#long = this.#clock.after(LONG_CALL_MS, () => this.end());
    onSent?.();
  }

  /** The call has ended, or holds its place no longer. Once counts. */
  end(): void {
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
