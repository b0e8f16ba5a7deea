// The typed writing end of a ring: push never blocks, and nothing is dropped in silence.
// What the ring has no space for waits in a local list, by one of two policies:
//   coalesce      newest value per key (at the place of the oldest); for states, where only the last one counts
//   backpressure  every value in order, up to a limit; beyond it push throws QueueFullError; for events
// Values are encoded at push, so that every error reaches the caller who can act on it. Order among waiting values and
// later pushes is kept: nothing overtakes a value that waits.
import type { Clock } from "../clock/clock.js";
import type { Codec } from "./codec.js";
import { BellListener, DEFAULT_RECHECK_MS } from "./doorbell.js";
import { isRingClosedError, QueueFullError, RecordTooLargeError, RingClosedError } from "./errors.js";
import type { RingProducer } from "./ring.js";

/** What happens to a value that finds the ring full. `limit` bounds the waiting values (coalesce: distinct keys). */
export type FullPolicy<T> =
  | { readonly kind: "coalesce"; readonly key: (value: T) => string; readonly limit?: number }
  | { readonly kind: "backpressure"; readonly limit: number };

/** Bound on distinct coalescing keys when the policy names none. */
export const DEFAULT_COALESCE_LIMIT = 65_536;

export interface QueueWriterOptions {
  /** Names the queue in errors. */
  readonly name: string;
  readonly clock: Clock;
  /** Cap on a lost "there is space" wake-up, milliseconds. */
  readonly recheckMs?: number;
}

export interface QueueWriterStats {
  /** Values that push accepted. */
  readonly pushed: number;
  /** Accepted values that a newer one of the same key replaced before they reached the ring. */
  readonly coalesced: number;
  /** Values waiting for space now. */
  readonly pending: number;
  /** Values given up: refused with QueueFullError, or still waiting at close. */
  readonly dropped: number;
  /** Times the ring had no space. */
  readonly full: number;
}

export class QueueWriter<T> {
  private readonly pending = new Map<string, Uint8Array>();
  private readonly bell: BellListener;
  private readonly limit: number;
  private waiters: (() => void)[] = [];
  private sequence = 0;
  private pushed = 0;
  private coalesced = 0;
  private dropped = 0;
  private full = 0;
  private closed = false;
  private abandoned = false;

  constructor(
    private readonly producer: RingProducer,
    private readonly codec: Pick<Codec<T>, "encode">,
    private readonly policy: FullPolicy<T>,
    private readonly options: QueueWriterOptions,
  ) {
    this.limit = policy.limit ?? DEFAULT_COALESCE_LIMIT;
    this.bell = new BellListener(
      producer.spaceBell,
      options.clock,
      () => this.flush(),
      options.recheckMs ?? DEFAULT_RECHECK_MS,
    );
  }

  /**
   * Sends a value, now or when there is space.
   * Throws QueueFullError (the value was not taken), RecordTooLargeError, RingClosedError, or what the codec throws.
   */
  push(value: T): void {
    if (this.closed) throw new RingClosedError("producer");
    const bytes = this.codec.encode(value);
    if (this.pending.size === 0 && this.producer.tryPush(bytes)) {
      this.pushed++;
      return;
    }
    if (bytes.length > this.producer.maxRecordBytes)
      throw new RecordTooLargeError(bytes.length, this.producer.maxRecordBytes);
    this.wait(this.keyOf(value), bytes);
  }

  stats(): QueueWriterStats {
    const { pushed, coalesced, dropped, full } = this;
    return { pushed, coalesced, pending: this.pending.size, dropped, full };
  }

  /** Resolves once no value waits for space: true; or false when the deadline passes or the ring closes first. */
  flushed(deadlineMs: number): Promise<boolean> {
    if (this.pending.size === 0) return Promise.resolve(true);
    if (this.closed) return Promise.resolve(false);
    return new Promise((resolve) => {
      const timer = this.options.clock.after(deadlineMs, () => {
        this.waiters = this.waiters.filter((waiter) => waiter !== done);
        resolve(this.pending.size === 0);
      });
      const done = (): void => {
        timer.cancel();
        resolve(this.pending.size === 0 && !this.abandoned);
      };
      this.waiters.push(done);
    });
  }

  /** Tries once more, then closes the ring's writing end. Returns how many waiting values were given up (counted). */
  close(): number {
    if (this.closed) return 0;
    this.closed = true;
    this.moveToRing();
    const lost = this.giveUp();
    this.bell.close();
    this.producer.close();
    this.settle();
    return lost;
  }

  private keyOf(value: T): string {
    return this.policy.kind === "coalesce" ? this.policy.key(value) : String(this.sequence++);
  }

  private wait(key: string, bytes: Uint8Array): void {
    const replaces = this.pending.has(key);
    if (!replaces && this.pending.size >= this.limit) {
      this.dropped++;
      this.producer.addDropped(1);
      throw new QueueFullError(this.options.name, this.limit);
    }
    if (replaces) this.coalesced++;
    this.pending.set(key, bytes);
    this.pushed++;
    if (this.pending.size === 1 && !replaces) {
      this.full++;
      this.listen();
    }
  }

  private listen(): void {
    while (!this.bell.arm(() => this.roomForNext())) if (this.moveToRing()) return;
  }

  private roomForNext(): boolean {
    const [next] = this.pending.values();
    return next === undefined || this.producer.consumerClosed || this.producer.hasSpaceFor(next.length);
  }

  private flush(): void {
    if (!this.moveToRing()) this.listen();
    if (this.pending.size === 0) this.settle();
  }

  /** Moves what fits; true when nothing waits any more. */
  private moveToRing(): boolean {
    try {
      for (const [key, bytes] of this.pending) {
        if (!this.producer.tryPush(bytes)) return false;
        this.pending.delete(key);
      }
    } catch (error) {
      // The reader has gone: nobody will ever take these; whoever pushes next is told.
      if (!isRingClosedError(error)) throw error;
      this.giveUp();
    }
    return true;
  }

  private giveUp(): number {
    const lost = this.pending.size;
    if (lost > 0) {
      this.abandoned = true;
      this.dropped += lost;
      this.producer.addDropped(lost);
      this.pending.clear();
    }
    return lost;
  }

  private settle(): void {
    const { waiters } = this;
    this.waiters = [];
    for (const waiter of waiters) waiter();
  }
}
