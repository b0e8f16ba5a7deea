// The typed reading end of a ring: woken by the doorbell, drains until empty, and breathes.
// A turn handles at most `budget` records; then the event loop gets its turn before the next lot. A record that cannot be
// decoded is reported and skipped; a ring that makes no sense is reported once and read no more.
import type { Clock } from "../clock/clock.js";
import { nextTurn } from "../clock/next-turn.js";
import type { Codec } from "./codec.js";
import { BellListener, DEFAULT_RECHECK_MS } from "./doorbell.js";
import { isRingCorruptError, type RingCorruptError } from "./errors.js";
import type { RingConsumer } from "./ring.js";

export const DEFAULT_BUDGET = 1024;

export interface QueueReaderOptions {
  readonly clock: Clock;
  /** Records handled before the event loop gets a turn. */
  readonly budget?: number;
  /** Cap on a lost wake-up, milliseconds. */
  readonly recheckMs?: number;
  /** Told once when the ring is corrupt; the reader has stopped. Without it the error is thrown. */
  readonly onCorrupt?: (error: RingCorruptError) => void;
}

export interface QueueReaderStats {
  /** Records handed to onRecord. */
  readonly received: number;
  readonly decodeErrors: number;
  /** Turns that found records. */
  readonly turns: number;
  /** Turns that ended by budget with records left. */
  readonly breaths: number;
  /** Looks by the re-check timer. */
  readonly rechecks: number;
  /** Records that only the re-check found: wake-ups that were lost. */
  readonly repaired: number;
  /** Bytes waiting in the ring now. */
  readonly depthBytes: number;
}

export class QueueReader<T> {
  private readonly bell: BellListener;
  private readonly budget: number;
  private running = false;
  private cancelTurn: (() => void) | undefined;
  private received = 0;
  private decodeErrors = 0;
  private turns = 0;
  private breaths = 0;
  private repaired = 0;

  /**
   * `onRecord` runs in order, one record at a time; what it throws is not caught here.
   * `onDecodeError` gets the error and a copy of the bytes.
   */
  constructor(
    private readonly consumer: RingConsumer,
    private readonly codec: Pick<Codec<T>, "decode">,
    private readonly onRecord: (value: T) => void,
    private readonly onDecodeError: (error: unknown, bytes: Uint8Array) => void,
    private readonly options: QueueReaderOptions,
  ) {
    this.budget = options.budget ?? DEFAULT_BUDGET;
    this.bell = new BellListener(
      consumer.dataBell,
      options.clock,
      (repaired) => this.turn(repaired),
      options.recheckMs ?? DEFAULT_RECHECK_MS,
    );
  }

  start(): void {
    if (this.running) return;
    this.running = true;
    this.turn(false);
  }

  /** Stops reading; records stay in the ring. A stopped reader does not start again. */
  stop(): void {
    this.running = false;
    this.cancelTurn?.();
    this.cancelTurn = undefined;
    this.bell.close();
  }

  /** Reads all that is left, at once, and stops: for the last words of a thread that has exited. */
  finish(): void {
    const wasRunning = this.running;
    this.stop();
    if (wasRunning) this.drain(Number.POSITIVE_INFINITY);
  }

  stats(): QueueReaderStats {
    const { received, decodeErrors, turns, breaths, repaired } = this;
    const depthBytes = this.consumer.depthBytes;
    return { received, decodeErrors, turns, breaths, rechecks: this.bell.rechecks, repaired, depthBytes };
  }

  private turn(repaired: boolean): void {
    this.cancelTurn = undefined;
    if (!this.running) return;
    try {
      const count = this.drain(this.budget);
      if (count > 0) this.turns++;
      if (repaired) this.repaired += count;
    } finally {
      this.next();
    }
  }

  private next(): void {
    if (!this.running || this.bell.arm(() => !this.consumer.empty)) return;
    this.breaths++;
    this.cancelTurn = nextTurn(() => this.turn(false));
  }

  private drain(max: number): number {
    try {
      return this.consumer.drain((bytes) => this.deliver(bytes), max);
    } catch (error) {
      if (!isRingCorruptError(error)) throw error;
      this.stop();
      if (this.options.onCorrupt === undefined) throw error;
      this.options.onCorrupt(error);
      return 0;
    }
  }

  private deliver(bytes: Uint8Array): void {
    let value: T;
    try {
      value = this.codec.decode(bytes);
    } catch (error) {
      this.decodeErrors++;
      this.onDecodeError(error, bytes.slice());
      return;
    }
    this.received++;
    this.onRecord(value);
  }
}
