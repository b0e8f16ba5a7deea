// Time for which this thread's event loop stood still (busy machine, stopped process) while probes ran. A probe's
// timeout must not include time that the thread, not the container, took.

import type { Timer, Clock } from "../../base/clock/clock.js";

const TICK_MS = 20;
/** Timers are never exact; below this nothing was held up. */
const TOLERANCE_MS = 5;

export class StallMeter {
  private users = 0;
  private timer: Timer | undefined;
  private lastTick = 0;
  private total = 0;

  constructor(private readonly clock: Pick<Clock, "monotonic" | "every">) {}

  /** Total stall of this thread in ms, up to now, while the meter was in use. */
  get stalledMs(): number {
    this.measureTick();
    return this.total;
  }

  /** Measures until the returned function is called. The meter's timer runs only while it is in use. */
  use(): () => void {
    if (this.users++ === 0) {
      this.lastTick = this.clock.monotonic();
      this.timer = this.clock.every(TICK_MS, () => this.measureTick()).unref();
    }
    let used = true;
    return () => {
      if (!used) return;
      used = false;
      if (--this.users === 0) this.timer?.cancel();
    };
  }

  private measureTick(): void {
    if (this.users === 0) return;
    const now = this.clock.monotonic();
    const heldUp = now - this.lastTick - TICK_MS;
    if (heldUp >= TOLERANCE_MS) this.total += heldUp;
    this.lastTick = now;
  }
}
