// Yields to other requests between many small reads: this thread also carries streams and health checks.

import type { Clock } from "../../../shared/base/clock/clock.js";
import { LoopYield } from "../../../shared/base/queue/loop-yield.js";

/** Longest time of reads before the event loop turns. */
const HELD_MS = 2;

export class Breath {
  private readonly loop = new LoopYield();
  private since: number;

  constructor(private readonly clock: Pick<Clock, "monotonic">) {
    this.since = clock.monotonic();
  }

  /** Resolves at once, or in the event loop's next round when it is time. */
  async take(): Promise<void> {
    if (this.clock.monotonic() - this.since < HELD_MS) return;
    await new Promise<void>((resolve) => this.loop.next(resolve));
    this.since = this.clock.monotonic();
  }
}
