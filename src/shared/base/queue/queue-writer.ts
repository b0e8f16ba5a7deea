// Pushes typed records into a ring without ever blocking, and reports the result of each. Invariant: records leave in
// the order of their push, except that a coalesced one takes the older record's place. While a record is pending, none
// overtakes it. A record is in the ring, pending here, or counted as dropped.

import { systemClock, type Clock } from "../clock/clock.js";
import type { Codec } from "./codec.js";
import { Doorbell } from "./doorbell.js";
import { RingClosedError } from "./errors.js";
import { RingWord } from "./layout.js";
import { QueueError } from "./queue-error.js";
import type { RingProducer } from "./ring-producer.js";

/** Behaviour when the ring is full. */
export type FullPolicy<T> =
  /** Keeps one pending record per key: the newest, or the result of `merge`. Bounded by the number of keys. */
  | { kind: "coalesce"; key: (value: T) => string; merge?: (older: T, newer: T) => T }
  /** Keeps at most `limit` pending records in order, then push throws QueueError. */
  | { kind: "backpressure"; limit: number };

export interface QueueWriterOptions {
  /** Named in errors, e.g. "pleg→main". */
  name?: string;
  clock?: Clock;
  /** Longest time for which free space stays unnoticed, ms. Default RECHECK_MS. */
  recheckMs?: number;
}

export interface QueueWriterStats {
  /** Number of pushed records. */
  pushed: number;
  /** Records that replaced, or were merged into, a pending one. */
  coalesced: number;
  /** Records that wait here for space. */
  pending: number;
  /** Records that will never arrive: too large, refused at the limit, or the consumer closed. */
  dropped: number;
  /** Times a push found the ring full. */
  full: number;
}

/** Polling interval of flushed(). */
const FLUSH_LOOK_MS = 5;

export class QueueWriter<T> {
  private readonly name: string;
  private readonly clock: Clock;
  private readonly doorbell: Doorbell;
  /** Map keeps insertion order; back-pressure uses a running number as key. */
  private readonly pending = new Map<string | number, T>();
  private next = 0;
  private closed = false;
  private readonly counts = { pushed: 0, coalesced: 0, dropped: 0, full: 0 };

  constructor(
    private readonly producer: RingProducer,
    private readonly codec: Codec<T>,
    private readonly policy: FullPolicy<T>,
    options: QueueWriterOptions = {},
  ) {
    this.name = options.name ?? "(unnamed)";
    this.clock = options.clock ?? systemClock;
    this.doorbell = new Doorbell(
      producer.header,
      RingWord.spaceWanted,
      RingWord.head,
      RingWord.consumerClosed,
      this.clock,
      () => this.flush(),
      options.recheckMs,
    );
  }

  /**
   * Never blocks. The record is in the ring or pending when it returns.
   * @throws QueueError (record too large, or back-pressure limit), RingClosedError (writer or consumer closed), or the
   *   codec's error; the record is dropped.
   */
  push(value: T): void {
    this.counts.pushed++;
    if (this.pending.size === 0 && this.send(value)) return;
    this.counts.full++;
    const first = this.pending.size === 0;
    this.keep(value);
    // Arms the doorbell; from then on free space wakes the writer.
    if (first) this.flush();
  }

  /** Moves pending records into the ring as far as there is room. Called by itself when space appears. */
  flush(): void {
    for (;;) {
      const position = this.producer.consumerPosition;
      for (const [key, value] of this.pending) {
        try {
          if (!this.send(value)) break;
        } catch (error) {
          if (error instanceof RingClosedError) {
            const lost = this.pending.size;
            this.pending.clear();
            this.drop(lost - 1);
            this.doorbell.close();
            return;
          }
          // send() has counted a record that can never arrive (too large after a merge).
        }
        this.pending.delete(key);
      }
      if (this.pending.size === 0 || this.closed || this.doorbell.sleep(position)) return;
    }
  }

  /** Ends the queue: records still pending after a last try count as dropped; the consumer still gets the rest. */
  close(): void {
    if (this.closed) return;
    this.closed = true;
    this.flush();
    this.doorbell.close();
    this.drop(this.pending.size);
    this.pending.clear();
    this.producer.close();
  }

  /** Resolves to true once no record is pending, to false after `deadlineMs`: for a thread that drains. */
  async flushed(deadlineMs: number): Promise<boolean> {
    const end = this.clock.monotonic() + deadlineMs;
    while (this.pending.size > 0 && this.clock.monotonic() < end) await this.clock.sleep(FLUSH_LOOK_MS);
    return this.pending.size === 0;
  }

  stats(): QueueWriterStats {
    return { ...this.counts, pending: this.pending.size };
  }

  /** @returns false when there is no room; a record that can never be sent is counted as dropped and thrown. */
  private send(value: T): boolean {
    try {
      return this.producer.tryPush(this.codec.encode(value));
    } catch (error) {
      this.drop(1);
      throw error;
    }
  }

  private keep(value: T): void {
    if (this.policy.kind === "coalesce") {
      const key = this.policy.key(value);
      const older = this.pending.get(key);
      if (older === undefined) {
        this.pending.set(key, value);
        return;
      }
      this.counts.coalesced++;
      this.pending.set(key, this.policy.merge === undefined ? value : this.policy.merge(older, value));
      return;
    }
    if (this.pending.size >= this.policy.limit) {
      this.drop(1);
      throw new QueueError(
        `queue ${this.name}: ring full and ${this.pending.size} records pending: stop producing until the consumer catches up`,
      );
    }
    this.pending.set(this.next++, value);
  }

  private drop(records: number): void {
    if (records === 0) return;
    this.counts.dropped += records;
    this.producer.countDropped(records);
  }
}
