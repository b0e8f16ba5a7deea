// The bytes of unauthorised clients are handled one TLS record per round of the event loop, and the processor time of
// each is measured. A connection that has used up its first milliseconds waits while its network has no credit. The
// connection with the least use is next; the time that it has waited counts in its favour.
// Invariant: all unauthorised clients together use at most half of the thread's time, whatever they send, plus one
// record. No stream of new connections can starve an old one: it waits only for connections that came before its due
// time.

import type { Clock } from "../../../shared/base/clock/clock.js";
import { LoopYield } from "../../../shared/base/queue/loop-yield.js";

/**
 * Processor time of one connection, milliseconds: for a handshake and a first request. Beyond it the credit of its
 * network counts.
 */
const FREE_MS = 20;
/**
 * A connection is due so many milliseconds after its bytes came, for each millisecond of its use: those with less use
 * that come until then are before it.
 */
const WAIT_FACTOR = 10;
/** Interval between two looks for credit, milliseconds. */
const CREDIT_LOOK_MS = 10;

export interface TurnTaker {
  /** Milliseconds of processor time so far. */
  readonly usedMs: number;
  /** It has bytes, and its reader takes them now. If not, it enters again when that changes. */
  readonly isReady: boolean;
  /** Its network has not used up its processor time. */
  hasCredit(): boolean;
  /** Handles its next record. */
  takeTurn(): void;
  charge(ms: number): void;
}

export interface ProcessorTurnsDeps {
  clock: Pick<Clock, "after" | "monotonic">;
  /** After so many milliseconds of use, the other work of the thread gets as much time. */
  batchMs: number;
  /** Starts to measure; the result gives the milliseconds of processor time since then. */
  measure: () => () => number;
}

export class ProcessorTurns {
  private readonly loop = new LoopYield();
  /** And since when. */
  private readonly waiting = new Map<TurnTaker, number>();
  private scheduled = false;
  private batchMs = 0;
  private taking: TurnTaker | undefined;

  constructor(private readonly deps: ProcessorTurnsDeps) {}

  /** Events that arise now belong to this one. */
  get current(): TurnTaker | undefined {
    return this.taking;
  }

  enter(taker: TurnTaker): void {
    if (!this.waiting.has(taker)) this.waiting.set(taker, this.deps.clock.monotonic());
    this.schedule();
  }

  leave(taker: TurnTaker): void {
    this.waiting.delete(taker);
  }

  private schedule(): void {
    if (this.scheduled || this.waiting.size === 0) return;
    this.scheduled = true;
    if (this.batchMs < this.deps.batchMs) {
      this.loop.next(() => this.run());
      return;
    }
    this.deps.clock.after(this.batchMs, () => this.run());
    this.batchMs = 0;
  }

  private run(): void {
    const taker = this.next();
    if (taker === undefined) {
      // Those that are left wait for the credit of their network.
      if (this.waiting.size === 0) this.scheduled = false;
      else this.deps.clock.after(CREDIT_LOOK_MS, () => this.run());
      return;
    }
    const used = this.deps.measure();
    this.taking = taker;
    // Its further bytes wait from now on.
    this.waiting.delete(taker);
    this.waiting.set(taker, this.deps.clock.monotonic());
    try {
      taker.takeTurn();
    } finally {
      this.taking = undefined;
      // What its events have begun runs before this.
      process.nextTick(() => {
        const ms = used();
        this.batchMs += ms;
        taker.charge(ms);
        this.scheduled = false;
        this.schedule();
      });
    }
  }

  private next(): TurnTaker | undefined {
    let best: TurnTaker | undefined;
    let earliest = Infinity;
    for (const [taker, since] of this.waiting) {
      const due = since + taker.usedMs * WAIT_FACTOR;
      if (!taker.isReady) this.waiting.delete(taker);
      else if (due < earliest && (taker.usedMs < FREE_MS || taker.hasCredit())) {
        best = taker;
        earliest = due;
      }
    }
    return best;
  }
}
