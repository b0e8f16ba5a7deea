// Limits how long a thread decodes input before its other work may run.
// Invariant: the clock is checked after every object. The wait for more input counts as work, because blocks may arrive
// without another task between them; one turn too many costs 3 µs.

import type { Clock } from "../../../../base/clock/clock.js";
import { LoopYield } from "../../../../base/queue/loop-yield.js";

/**
 * Longest time of decoding without a pause. One object may come on top: 1.5 MiB, the most that etcd holds, parses in
 * some milliseconds.
 */
const TURN_MS = 2;

export class Turn {
  private readonly loop = new LoopYield();
  private end: number;

  constructor(private readonly clock: Clock) {
    this.end = clock.monotonic() + TURN_MS;
  }

  get isOver(): boolean {
    return this.clock.monotonic() >= this.end;
  }

  /** Resolves when others had theirs. */
  async next(): Promise<void> {
    await new Promise<void>((resolve) => this.loop.next(resolve));
    this.end = this.clock.monotonic() + TURN_MS;
  }
}
