// The doorbell: a side without work sleeps on it, and the other side wakes it (ADR 0003).
// Invariant: a sleeper raises its `wanted` flag, then compares the position it sleeps on; a ringer moves the position,
// then reads the flag. Both orders are sequentially consistent, so one of the two always sees the other's write.
// Neither a sleeping doorbell nor its re-check keeps the process alive.

import type { Clock, Timer } from "../clock/clock.js";

/** Longest time for which a lost wake-up stays unnoticed. */
const RECHECK_MS = 1000;

/** Values of the `wanted` flag: the thread runs; it sleeps; it rests and wakes for urgent rings only. */
const AWAKE = 0;
const ASLEEP = 1;
const AT_REST = 2;

/** Wakes the sleeper of `position`, if there is one. Costs one load when there is none. */
export function ring(header: Int32Array, wanted: number, position: number, urgent = true): void {
  const state = Atomics.load(header, wanted);
  if (state === AWAKE || (state === AT_REST && !urgent)) return;
  if (Atomics.exchange(header, wanted, AWAKE) !== AWAKE) Atomics.notify(header, position);
}

/** Calls `onWake` once when `position` moves; re-checks on a timer in case the wake-up is lost. */
export class Doorbell {
  /** True while a waitAsync is outstanding; it can't be cancelled, so it is reused by the next sleep. */
  private waiting = false;
  private armed = false;
  private state = ASLEEP;
  private seen = 0;
  private recheck: Timer | undefined;
  /** Wake-ups that only the re-check noticed. */
  repaired = 0;

  constructor(
    private readonly header: Int32Array,
    private readonly wanted: number,
    private readonly position: number,
    /** The other side's closed flag: set, it ends every sleep. */
    private readonly closed: number,
    private readonly clock: Pick<Clock, "every">,
    private readonly onWake: () => void,
    private readonly recheckMs: number = RECHECK_MS,
  ) {}

  /**
   * Sleeps until `position` differs from `seen` or the other side closes.
   * @returns false, without sleeping, when that is already so.
   */
  sleep(seen: number): boolean {
    return this.settle(seen, ASLEEP);
  }

  /**
   * Like `sleep`, for a pause that the owner ends with `sleep`: only urgent rings wake the thread, others cost nothing.
   */
  rest(seen: number): boolean {
    return this.settle(seen, AT_REST);
  }

  private settle(seen: number, state: number): boolean {
    Atomics.store(this.header, this.wanted, state);
    this.seen = seen;
    this.state = state;
    if (this.moved()) {
      Atomics.store(this.header, this.wanted, AWAKE);
      this.armed = false;
      return false;
    }
    this.armed = true;
    this.recheck ??= this.clock.every(this.recheckMs, () => this.check()).unref();
    this.wait();
    return true;
  }

  /** Ends the sleep and every timer; `onWake` is not called any more. */
  close(): void {
    this.armed = false;
    this.recheck?.cancel();
    this.recheck = undefined;
    Atomics.store(this.header, this.wanted, AWAKE);
    if (this.waiting) Atomics.notify(this.header, this.position);
  }

  private wait(): void {
    if (this.waiting) return;
    const outcome = Atomics.waitAsync(this.header, this.position, this.seen);
    if (!outcome.async) {
      // The position moved between the check and the wait.
      queueMicrotask(() => this.wake());
      return;
    }
    this.waiting = true;
    void outcome.value.then(() => {
      this.waiting = false;
      this.wake();
    });
  }

  private wake(): void {
    if (!this.armed) return;
    if (!this.moved()) {
      // Woken for an earlier sleep, or by a close: the sleep continues.
      Atomics.store(this.header, this.wanted, this.state);
      this.wait();
      return;
    }
    this.armed = false;
    this.onWake();
  }

  private check(): void {
    if (!this.armed || this.state === AT_REST || !this.moved()) return;
    this.repaired++;
    this.armed = false;
    this.onWake();
  }

  private moved(): boolean {
    return Atomics.load(this.header, this.position) !== this.seen || Atomics.load(this.header, this.closed) !== 0;
  }
}
