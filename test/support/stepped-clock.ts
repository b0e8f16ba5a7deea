// Virtual time: nothing happens until the test steps.

import { sleepOn, type Clock, type Timer } from "../../src/shared/base/clock/clock.js";
import {
  type MonotonicTime,
  type SteadyTime,
  type WallTime,
  monotonicTime,
  steadyTime,
  wallTime,
} from "../../src/shared/base/clock/moments.js";

interface Entry {
  due: number;
  every?: number;
  fn: () => void;
}

export class SteppedClock implements Clock {
  private time = 0;
  private ahead = 0;
  private readonly entries = new Set<Entry>();

  /** `startMs`: wall time at which the clock begins. */
  constructor(private readonly startMs = 0) {}

  now(): WallTime {
    return wallTime(this.startMs + this.time + this.ahead);
  }
  nowNanos(): bigint {
    return BigInt(Math.round(this.now() * 1e6));
  }
  steady(): SteadyTime {
    return steadyTime(this.startMs + this.time);
  }
  monotonic(): MonotonicTime {
    return monotonicTime(this.time);
  }
  after(ms: number, fn: () => void): Timer {
    return this.add({ due: this.time + ms, fn });
  }
  every(ms: number, fn: () => void): Timer {
    return this.add({ due: this.time + ms, every: ms, fn });
  }
  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return sleepOn(this, ms, signal);
  }

  /** Timers not yet cancelled or done: 0 means nothing leaks. */
  get pending(): number {
    return this.entries.size;
  }

  /** Moves time forward, running what falls due in order. */
  step(ms: number): void {
    const end = this.time + ms;
    for (;;) {
      const next = [...this.entries].filter((entry) => entry.due <= end).sort((a, b) => a.due - b.due)[0];
      if (next === undefined) break;
      this.time = next.due;
      if (next.every === undefined) this.entries.delete(next);
      else next.due += next.every;
      next.fn();
    }
    this.time = end;
  }

  /** Sets the wall clock: timers and the monotonic clock go on as before. Negative: back. */
  jump(ms: number): void {
    this.ahead += ms;
  }

  /**
   * Moves time forward without running what falls due: a process that was stopped. Late timers run at the next step.
   */
  freeze(ms: number): void {
    this.time += ms;
    for (const entry of this.entries) entry.due = Math.max(entry.due, this.time);
  }

  private add(entry: Entry): Timer {
    this.entries.add(entry);
    const timer: Timer = {
      cancel: () => {
        this.entries.delete(entry);
      },
      unref: () => timer,
    };
    return timer;
  }
}

/** How often a running clock follows real time, milliseconds. */
const FOLLOW_MS = 5;

/**
 * A stepped clock that also moves with real time: for tests that skip hours of a server whose connections come about in
 * real time. What a connection waits for, such as its turn of the processor, would never come on a clock that stands
 * still.
 */
export class RunningClock extends SteppedClock {
  private readonly following: NodeJS.Timeout;
  private followedAt = performance.now();

  constructor() {
    super();
    this.following = setInterval(() => {
      const now = performance.now();
      this.step(now - this.followedAt);
      this.followedAt = now;
    }, FOLLOW_MS);
  }

  [Symbol.dispose](): void {
    clearInterval(this.following);
  }
}
