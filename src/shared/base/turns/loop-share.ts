// A share of the thread's event loop for work of one kind, for example the syncs of all pods. Their sum in one round of
// the loop is bounded, so that timers and sockets run in between.
// Invariant: in each round at least one piece of work begins, and none begins once the share is used up.

import type { Clock } from "../clock/clock.js";
import { type MonotonicTime, later } from "../clock/moments.js";
import { LoopYield } from "../queue/loop-yield.js";

/** Time for pieces of work in one round of the loop, ms; the piece that exceeds it is completed. */
export const SHARE_MS = 5;

export class LoopShare {
  private readonly loop = new LoopYield();
  /** End of this round's share; undefined: nothing has begun in this round. */
  private end: MonotonicTime | undefined;
  private begun: MonotonicTime | undefined;
  private last: Promise<void> = Promise.resolve();
  /** Until the pause after a used up share is over. */
  private resting: Promise<void> | undefined;

  /**
   * `rest` resolves after a pause, which follows each share that was used up. In it, work of others that takes hundreds
   * of short rounds advances: a request that reads as many files, for example. It gets the milliseconds from the
   * share's begin to the next round: more than the share if the thread waited for a processor.
   */
  constructor(
    private readonly clock: Pick<Clock, "monotonic">,
    private readonly rest?: (tookMs: number) => Promise<void>,
  ) {}

  /**
   * Resolves at once, or in a later round of the loop: await it directly before a piece of work. In the order of the
   * calls.
   */
  turn(): Promise<void> {
    // The caller continues before the next one starts: it was first to wait for this promise.
    this.last = this.last.then(() => this.room());
    return this.last;
  }

  /** A turn of a later round: for work that follows a long piece which waited for no turn. */
  async laterTurn(): Promise<void> {
    await this.loop.round();
    await this.turn();
  }

  /**
   * Runs a piece of work that waits for no turn. Its time counts, so that others which follow from it begin in the next
   * round.
   */
  spend<T>(work: () => T): T {
    const begun = this.clock.monotonic();
    try {
      return work();
    } finally {
      const now = this.clock.monotonic();
      if (this.end === undefined) this.startRound(now);
      this.end = later(this.end ?? now, begun - now);
    }
  }

  private startRound(now: MonotonicTime): void {
    this.begun = now;
    this.end = later(now, SHARE_MS);
    this.loop.next(() => this.endRound());
  }

  private endRound(): void {
    const now = this.clock.monotonic();
    const isUsedUp = this.end !== undefined && now >= this.end;
    if (this.rest === undefined || !isUsedUp) {
      this.end = undefined;
      return;
    }
    this.resting = this.rest(now - (this.begun ?? now)).finally(() => {
      this.resting = undefined;
      this.end = undefined;
    });
  }

  private room(): Promise<void> | undefined {
    if (this.end === undefined) {
      this.startRound(this.clock.monotonic());
      return undefined;
    }
    if (this.clock.monotonic() < this.end) return undefined;
    const wait = this.resting ?? new Promise<void>((resolve) => this.loop.next(resolve));
    return wait.then(() => this.room());
  }
}

/** Does the work on each item, in steps of so many. */
export function* inSteps<T>(items: Iterable<T>, atOnce: number, work: (item: T) => void): Generator<void, void> {
  let left = atOnce;
  for (const item of items) {
    work(item);
    if (--left > 0) continue;
    yield;
    left = atOnce;
  }
}

/** Runs the steps of a computation, each in the loop's turn. */
export async function finishInTurns<T>(steps: Iterator<void, T>, loop: { turn(): Promise<void> }): Promise<T> {
  for (;;) {
    await loop.turn();
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
