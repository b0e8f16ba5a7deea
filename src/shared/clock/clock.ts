// The one place that touches timers and wall time. Everything else takes a Clock, so that tests run under virtual time.

/** A pending timer. `cancel` is idempotent. */
export interface Timer {
  cancel(): void;
  /** Lets the process exit while the timer is pending. */
  unref(): Timer;
}

/** Time as the agent sees it. All durations are milliseconds. */
export interface Clock {
  /** Wall time, milliseconds since the epoch. */
  now(): number;
  /** Wall time, nanoseconds since the epoch (CRI time stamps use this unit). */
  nowNanos(): bigint;
  /**
   * Monotonic time, milliseconds since an arbitrary origin, with sub-millisecond fractions.
   * The origin is the same in every thread of the process: the thread board compares stamps across threads.
   */
  monotonic(): number;
  /** Runs `fn` once after `ms`. */
  after(ms: number, fn: () => void): Timer;
  /** Runs `fn` every `ms`. */
  every(ms: number, fn: () => void): Timer;
  /** Resolves after `ms`, or rejects with the signal's reason when it aborts first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
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
function processMonotonic(): number {
  const [seconds, nanos] = process.hrtime();
  return seconds * 1000 + nanos / 1e6;
}

/** The real clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  nowNanos: () => BigInt(Math.round((performance.timeOrigin + performance.now()) * 1000)) * 1000n,
  monotonic: processMonotonic,
  after: (ms, fn) => new NodeTimer(setTimeout(fn, ms)),
  every: (ms, fn) => new NodeTimer(setInterval(fn, ms)),
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

function abortReason(signal: AbortSignal): Error {
  return signal.reason instanceof Error ? signal.reason : new Error(String(signal.reason));
}
