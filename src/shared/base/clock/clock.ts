// The one place that touches timers and wall time. Everything else takes a Clock, so that tests run under virtual time.
// Invariant: a timer never fires early, however long; a delay that is no number is refused, since Node would fire at
// once.

import { abortReason } from "../errors/thrown.js";
import { InvalidDurationError } from "./durations.js";
import { monotonicTime, steadyTime, wallTime, type MonotonicTime, type SteadyTime, type WallTime } from "./moments.js";

/** A pending timer. `cancel` is idempotent. */
export interface Timer {
  cancel(): void;
  /** Lets the process exit while the timer is pending. */
  unref(): Timer;
}

/** The kubelet's clock. All durations are milliseconds. */
export interface Clock {
  /** Wall time, milliseconds since the epoch. */
  now(): WallTime;
  /** Wall time, nanoseconds since the epoch (CRI time stamps use this unit). */
  nowNanos(): bigint;
  /**
   * Milliseconds since the epoch by a clock that is never set: the thread's start time, continued with the monotonic
   * clock. For deadlines and back-offs; use `now` for moments that come from or go to other programs.
   */
  steady(): SteadyTime;
  /**
   * Monotonic time, milliseconds since an arbitrary origin, with sub-millisecond fractions.
   * The origin is the same in every thread of the process: the thread board compares stamps across threads.
   */
  monotonic(): MonotonicTime;
  /**
   * Runs `fn` once after `ms`; at the next turn when `ms` is negative.
   * @throws InvalidDurationError for NaN
   */
  after(ms: number, fn: () => void): Timer;
  /**
   * Runs `fn` every `ms`.
   * @throws InvalidDurationError for NaN
   */
  every(ms: number, fn: () => void): Timer;
  /** Resolves after `ms`, or rejects with the signal's reason when it aborts first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Node's timers hold 31 bits of milliseconds, 24.8 days; more would fire at once. */
const LONGEST_MS = 2 ** 31 - 1;

/** A timer in several stretches. */
class LongTimer implements Timer {
  private handle: NodeJS.Timeout;
  private referenced = true;

  constructor(ms: number, fn: () => void) {
    this.handle = this.stretch(ms, fn);
  }
  cancel(): void {
    clearTimeout(this.handle);
  }
  unref(): Timer {
    this.referenced = false;
    this.handle.unref();
    return this;
  }

  private stretch(ms: number, fn: () => void): NodeJS.Timeout {
    if (ms <= LONGEST_MS) return setTimeout(fn, ms);
    return setTimeout(() => {
      this.handle = this.stretch(ms - LONGEST_MS, fn);
      if (!this.referenced) this.handle.unref();
    }, LONGEST_MS);
  }
}

/** A period of several stretches. */
class LongInterval implements Timer {
  private timer: Timer;
  private referenced = true;

  constructor(
    private readonly ms: number,
    private readonly fn: () => void,
  ) {
    this.timer = this.begin();
  }
  cancel(): void {
    this.timer.cancel();
  }
  unref(): Timer {
    this.referenced = false;
    this.timer.unref();
    return this;
  }

  private begin(): Timer {
    return new LongTimer(this.ms, () => {
      this.timer = this.begin();
      if (!this.referenced) this.timer.unref();
      this.fn();
    });
  }
}

class NodeTimer implements Timer {
  constructor(private readonly handle: NodeJS.Timeout) {}
  cancel(): void {
    clearTimeout(this.handle);
  }
  unref(): Timer {
    this.handle.unref();
    return this;
  }
}

/** Not performance.now(): whether a worker shares its origin with main is the Node version's choice. */
function processMonotonic(): MonotonicTime {
  const [seconds, nanos] = process.hrtime();
  return monotonicTime(seconds * 1000 + nanos / 1e6);
}

/** From the monotonic clock's origin to the epoch, as this thread found it. */
const STEADY_OFFSET = Date.now() - processMonotonic();

/** The real clock. */
export const systemClock: Clock = {
  now: () => wallTime(Date.now()),
  // Not from performance.timeOrigin, which does not follow when the system clock is set.
  nowNanos: () => BigInt(Date.now()) * 1_000_000n,
  steady: () => steadyTime(Math.round(processMonotonic() + STEADY_OFFSET)),
  monotonic: processMonotonic,
  after: (ms, fn) => {
    if (Number.isNaN(ms)) throw new InvalidDurationError("a timer's delay", ms);
    return ms > LONGEST_MS ? new LongTimer(ms, fn) : new NodeTimer(setTimeout(fn, ms));
  },
  every: (ms, fn) => {
    if (Number.isNaN(ms)) throw new InvalidDurationError("a timer's period", ms);
    return ms > LONGEST_MS ? new LongInterval(ms, fn) : new NodeTimer(setInterval(fn, ms));
  },
  sleep: (ms, signal) => sleepOn(systemClock, ms, signal),
};

/** `Clock.sleep` in terms of `Clock.after`, for every Clock implementation. */
export function sleepOn(clock: Pick<Clock, "after">, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise<void>((resolve, reject) => {
    if (signal?.aborted === true) {
      reject(abortReason(signal));
      return;
    }
    const onAbort = (): void => {
      timer.cancel();
      if (signal !== undefined) reject(abortReason(signal));
    };
    const timer = clock.after(ms, () => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    });
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}
