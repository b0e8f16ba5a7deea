// Real time, some times as fast: for tests of what takes seconds with real sockets.

import { sleepOn, systemClock, type Clock } from "../../src/shared/base/clock/clock.js";
import { monotonicTime, steadyTime } from "../../src/shared/base/clock/moments.js";

/** Timers and monotonic time run `times` as fast; wall time is the real one, for certificates. */
export function fastClock(times: number): Clock {
  const clock: Clock = {
    now: () => systemClock.now(),
    nowNanos: () => systemClock.nowNanos(),
    steady: () => steadyTime(systemClock.steady() * times),
    monotonic: () => monotonicTime(systemClock.monotonic() * times),
    after: (ms, fn) => systemClock.after(ms / times, fn),
    every: (ms, fn) => systemClock.every(ms / times, fn),
    sleep: (ms, signal) => sleepOn(clock, ms, signal),
  };
  return clock;
}
