// A clock that moves by advance(), for the server thread's tests.

import { sleepOn, type Clock, type Timer } from "../../../src/shared/base/clock/clock.js";

interface Pending {
  at: number;
  fn: () => void;
}

export class ManualClock implements Clock {
  private time = 1000;
  private readonly timers = new Set<Pending>();

  now = (): number => this.time;
  steady = (): number => this.time;
  monotonic = (): number => this.time;
  nowNanos = (): bigint => BigInt(this.time) * 1_000_000n;

  get pending(): number {
    return this.timers.size;
  }

  after(ms: number, fn: () => void): Timer {
    const entry = { at: this.time + ms, fn };
    this.timers.add(entry);
    return this.timer(entry);
  }

  every(ms: number, fn: () => void): Timer {
    const entry: Pending = {
      at: this.time + ms,
      fn: () => {
        entry.at += ms;
        this.timers.add(entry);
        fn();
      },
    };
    this.timers.add(entry);
    return this.timer(entry);
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return sleepOn(this, ms, signal);
  }

  /** Advances the time and runs due timers, in order. */
  advance(ms: number): void {
    const end = this.time + ms;
    for (;;) {
      const next = [...this.timers].sort((a, b) => a.at - b.at)[0];
      if (next === undefined || next.at > end) break;
      this.time = Math.max(this.time, next.at);
      this.timers.delete(next);
      next.fn();
    }
    this.time = end;
  }

  private timer(entry: Pending): Timer {
    const timer: Timer = { cancel: () => void this.timers.delete(entry), unref: () => timer };
    return timer;
  }
}
