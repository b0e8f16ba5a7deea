// Moments of the three clocks, each a type of its own: the compiler refuses a deadline of one clock where another's is
// wanted. A difference of two moments is a plain number of milliseconds.

declare const clock: unique symbol;

/** Milliseconds since the epoch by the system clock, which may be set. For what comes from or goes to others. */
export type WallTime = number & { readonly [clock]: "wall" };
/** Milliseconds since the epoch by the clock that nothing sets (`Clock.steady`). For deadlines and back-offs. */
export type SteadyTime = number & { readonly [clock]: "steady" };
/** Milliseconds since an arbitrary origin, the same in all threads of the process (`Clock.monotonic`). */
export type MonotonicTime = number & { readonly [clock]: "monotonic" };

type Moment = WallTime | SteadyTime | MonotonicTime;

/** A moment that was read from a message, a file or a program that counts by the wall clock. */
export function wallTime(ms: number): WallTime {
  return ms as WallTime;
}

/** A moment of the steady clock from another process of this boot, or a bound (Infinity). */
export function steadyTime(ms: number): SteadyTime {
  return ms as SteadyTime;
}

/** A moment of the monotonic clock from shared memory, or a bound (Infinity). */
export function monotonicTime(ms: number): MonotonicTime {
  return ms as MonotonicTime;
}

/** The moment `ms` after another one of the same clock; before it when `ms` is negative. */
export function later<T extends Moment>(moment: T, ms: number): T {
  return (moment + ms) as T;
}

/** The earlier of two moments of one clock. */
export function earliest<T extends Moment>(one: T, other: T): T {
  return one < other ? one : other;
}

/** The later of two moments of one clock. */
export function latest<T extends Moment>(one: T, other: T): T {
  return one > other ? one : other;
}
