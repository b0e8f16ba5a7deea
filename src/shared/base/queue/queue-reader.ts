// Reads typed records from a ring on this thread's event loop.
// Invariant: while running, the reader either is about to drain or sleeps on the doorbell; it drains until empty, but
// never longer than its budget in one turn. So timers and sockets of the thread are not delayed.

import { systemClock, type Clock } from "../clock/clock.js";
import { faultPoint } from "../faults/fault-points.js";
import type { Codec } from "./codec.js";
import { Doorbell } from "./doorbell.js";
import { RingCorruptError } from "./errors.js";
import { RingWord } from "./layout.js";
import { LoopYield } from "./loop-yield.js";
import type { RingConsumer } from "./ring-consumer.js";

/** Longest time spent on records in one event-loop turn. */
const BUDGET_MS = 4;

export interface QueueReaderOptions {
  clock?: Clock;
  /** Longest time for which a lost wake-up stays unnoticed, ms. Default RECHECK_MS. */
  recheckMs?: number;
}

export interface QueueReaderStats {
  /** Records taken from the ring, failed ones included. */
  received: number;
  /** Records whose decoding or handling threw. */
  failed: number;
  /** Records that the other side's writer dropped. */
  dropped: number;
  /** Turns that ended because the budget was used up. */
  yields: number;
  /** Wake-ups that only the re-check noticed. */
  repairedWakes: number;
  /** Waiting bytes. */
  depth: number;
}

/**
 * Records between two readings of the clock, and bytes of them: a record of a megabyte takes milliseconds to decode.
 */
const SLICE = 64;
const SLICE_BYTES = 64 * 1024;

export class QueueReader<T> {
  private readonly clock: Clock;
  private readonly doorbell: Doorbell;
  private readonly loop = new LoopYield();
  private running = false;
  /** A turn is scheduled; a stop and a start in between must not schedule a second one. */
  private scheduled = false;
  private received = 0;
  private failed = 0;
  private yields = 0;
  /** Bytes of the records that this slice has taken. */
  private sliceBytes = 0;

  /**
   * @param onRecord Runs synchronously per record, oldest first.
   * @param onError Gets errors of decode and onRecord, and a RingCorruptError once, after which the reader has stopped.
   */
  constructor(
    private readonly consumer: RingConsumer,
    private readonly codec: Codec<T>,
    private readonly onRecord: (value: T) => void,
    private readonly onError: (error: unknown) => void,
    options: QueueReaderOptions = {},
  ) {
    this.clock = options.clock ?? systemClock;
    this.doorbell = new Doorbell(
      consumer.header,
      RingWord.dataWanted,
      RingWord.tail,
      RingWord.producerClosed,
      this.clock,
      () => this.turn(),
      options.recheckMs,
    );
  }

  /** Starts reading. Does not keep the process alive. */
  start(): void {
    if (this.running) return;
    this.running = true;
    this.schedule();
  }

  /** Stops reading; records in the ring stay there. Idempotent. */
  stop(): void {
    this.running = false;
    this.doorbell.close();
  }

  /** Reads all waiting records now, without a budget: for the last records of a thread that has exited. */
  drainNow(): number {
    const before = this.received;
    while (this.slice(() => true));
    return this.received - before;
  }

  stats(): QueueReaderStats {
    return {
      received: this.received,
      failed: this.failed,
      dropped: this.consumer.dropped,
      yields: this.yields,
      repairedWakes: this.doorbell.repaired,
      depth: this.consumer.depth,
    };
  }

  private schedule(): void {
    if (this.scheduled) return;
    this.scheduled = true;
    this.loop.next(() => {
      this.scheduled = false;
      this.turn();
    });
  }

  private turn(): void {
    if (!this.running) return;
    const end = this.clock.monotonic() + BUDGET_MS;
    for (;;) {
      while (this.slice(() => this.running)) {
        if (this.clock.monotonic() >= end) {
          this.yields++;
          this.schedule();
          return;
        }
      }
      if (this.isStopped() || this.doorbell.sleep(this.consumer.position)) return;
    }
  }

  /** Checked after callbacks: a handler may have stopped the reader, or the producer may have closed for good. */
  private isStopped(): boolean {
    if (this.running && this.consumer.ended) this.stop();
    return !this.running;
  }

  private readonly take = (bytes: Uint8Array): void => {
    this.received++;
    this.sliceBytes += bytes.length;
    faultPoint("ring-record");
    this.onRecord(this.codec.decode(bytes));
  };

  /** @returns true if more records may wait */
  private slice(goOn: () => boolean): boolean {
    this.sliceBytes = 0;
    for (let taken = 0; goOn(); taken++) {
      if (taken >= SLICE || this.sliceBytes >= SLICE_BYTES) return true;
      try {
        if (this.consumer.drain(this.take, 1) === 0) return false;
      } catch (error) {
        this.failed++;
        if (error instanceof RingCorruptError) {
          this.stop();
          this.onError(error);
          return false;
        }
        this.onError(error);
      }
    }
    return false;
  }
}
