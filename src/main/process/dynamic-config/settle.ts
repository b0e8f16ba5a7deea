// Turns many changes into one call: runs `act` after a time without changes, or after the longest wait; one call at a
// time. `act` can ask whether something changed since it began. If so, its result is outdated, and it runs again.

import type { Clock, Timer } from "../../../shared/base/clock/clock.js";

export interface SettleOptions {
  readonly clock: Clock;
  readonly unchangedMs: number;
  readonly longestMs: number;
  readonly act: (isOld: () => boolean) => Promise<void>;
}

export class Settle {
  private timer: Timer | undefined;
  private waitingSince: number | undefined;
  private running: Promise<void> | undefined;
  private changes = 0;
  private due = false;
  private stopped = false;

  constructor(private readonly options: SettleOptions) {}

  changed(): void {
    if (this.stopped) return;
    const { clock, unchangedMs, longestMs } = this.options;
    this.changes++;
    const now = clock.monotonic();
    this.waitingSince ??= now;
    this.timer?.cancel();
    const wait = Math.min(unchangedMs, Math.max(0, this.waitingSince + longestMs - now));
    this.timer = clock.after(wait, () => this.settled());
  }

  /** No further call begins; resolves when the one under way is done. */
  async stop(): Promise<void> {
    this.stopped = true;
    this.timer?.cancel();
    await this.running;
  }

  private settled(): void {
    this.waitingSince = undefined;
    this.due = true;
    this.running ??= this.runAll().finally(() => {
      this.running = undefined;
    });
  }

  private async runAll(): Promise<void> {
    while (this.due && !this.stopped) {
      this.due = false;
      const seen = this.changes;
      await this.options.act(() => this.stopped || this.changes !== seen);
    }
  }
}
