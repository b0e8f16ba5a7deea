// How many frames a runtime may send that bring no call further: PING, SETTINGS, WINDOW_UPDATE, empty DATA, frames of
// streams that have ended. A runtime sends a few for each call. One that floods loses the connection.

import type { Clock } from "../../../base/clock/clock.js";
import { CODE, ConnectionError } from "./frames/http2-errors.js";

/** Frames at once that bring no call further. */
export const MAX_IDLE_FRAMES = 10_000;

/** Calls and time earn them again. */
const PER_CALL = 20;
const PER_SECOND = 100;

export class IdleFrames {
  readonly #clock: Pick<Clock, "monotonic">;
  #left = MAX_IDLE_FRAMES;
  #countedAt: number;

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
    this.#countedAt = clock.monotonic();
  }

  onCall(): void {
    this.#left = Math.min(MAX_IDLE_FRAMES, this.#left + PER_CALL);
  }

  /** @throws ConnectionError when there were too many */
  count(): void {
    if (--this.#left >= 0) return;
    const now = this.#clock.monotonic();
    const earned = Math.floor(((now - this.#countedAt) / 1000) * PER_SECOND);
    this.#countedAt = now;
    this.#left = Math.min(MAX_IDLE_FRAMES, earned - 1);
    if (this.#left >= 0) return;
    throw new ConnectionError(CODE.ENHANCE_YOUR_CALM, `more than ${MAX_IDLE_FRAMES} frames that bring no call further`);
  }
}
