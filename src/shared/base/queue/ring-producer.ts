// The pushing side of a ring. One thread, one producer: two producers on one ring corrupt it.

import { invariant } from "../errors/invariant.js";
import { ring as ringBell } from "./doorbell.js";
import { RingClosedError } from "./errors.js";
import { RECORD_HEADER_BYTES, RingWord, WORD_BYTES } from "./layout.js";
import { QueueError } from "./queue-error.js";
import { framedBytes, usedBytes, viewRing, type RingBuffers, type RingView } from "./ring-view.js";

/**
 * An empty ring that has been filled this far starts again at its first byte. A ring that is drained often then touches
 * few of its pages, at every capacity. Otherwise each ring would become resident in full after enough records.
 */
const REWIND_BYTES = 64 * 1024;

/** A ring filled to this part ends the consumer's rest. */
const FILLS = 4;

export class RingProducer {
  private readonly view: RingView;
  private tail: number;
  /**
   * Head as read last. It is read again only when the ring seems full, so most pushes don't touch the consumer's cache
   * line.
   */
  private seenHead: number;
  private base: number;
  private readonly rewindBytes: number;

  constructor(readonly buffers: RingBuffers) {
    this.view = viewRing(buffers);
    this.tail = Atomics.load(this.view.header, RingWord.tail);
    this.seenHead = Atomics.load(this.view.header, RingWord.head);
    this.base = Atomics.load(this.view.header, RingWord.base);
    this.rewindBytes = Math.min(REWIND_BYTES, this.view.capacity / FILLS);
  }

  get maxRecordBytes(): number {
    return this.view.maxRecordBytes;
  }

  /** Bytes not yet taken by the consumer. */
  get usedBytes(): number {
    return usedBytes(this.view.header);
  }

  /** Position a doorbell sleeps on: while head equals it, there is no more space than now. */
  get consumerPosition(): number {
    return Atomics.load(this.view.header, RingWord.head);
  }

  get header(): Int32Array {
    return this.view.header;
  }

  /**
   * Writes one record and wakes the consumer if it sleeps; one that rests only with an `urgent` record, or a ring that
   * fills.
   * @returns false when the ring has no room for it now.
   * @throws QueueError when it never will have; RingClosedError after either side closed.
   */
  tryPush(record: Uint8Array, urgent = false): boolean {
    const { header, lengths, data, capacity, mask } = this.view;
    const length = record.length;
    if (length > this.view.maxRecordBytes)
      throw new QueueError(
        `record of ${length} bytes pushed to a ring that holds records of at most ${this.view.maxRecordBytes} bytes: ` +
          "split the record or create the ring with a larger capacity",
      );
    if (Atomics.load(header, RingWord.producerClosed) !== 0) throw new RingClosedError("producer");
    if (Atomics.load(header, RingWord.consumerClosed) !== 0) throw new RingClosedError("consumer");
    invariant(Atomics.load(header, RingWord.tail) === this.tail, "a ring has one producer");
    const size = framedBytes(length);
    if (capacity - ((this.tail - this.seenHead) >>> 0) < size) {
      this.seenHead = Atomics.load(header, RingWord.head);
      if (capacity - ((this.tail - this.seenHead) >>> 0) < size) return false;
    }
    this.rewind();
    const at = (this.tail - this.base) & mask;
    lengths[at / WORD_BYTES] = length;
    const start = (at + RECORD_HEADER_BYTES) & mask;
    if (start + length <= capacity) {
      data.set(record, start);
    } else {
      const first = capacity - start;
      data.set(record.subarray(0, first), start);
      data.set(record.subarray(first), 0);
    }
    this.tail = (this.tail + size) | 0;
    Atomics.store(header, RingWord.tail, this.tail);
    header[RingWord.pushed] = (header[RingWord.pushed] ?? 0) + 1;
    ringBell(header, RingWord.dataWanted, RingWord.tail, urgent || this.fills());
    return true;
  }

  /** The consumer reads `base` after `tail`, and nothing of the ring while it is empty. */
  private rewind(): void {
    const { header, mask } = this.view;
    if (((this.tail - this.base) & mask) < this.rewindBytes) return;
    this.seenHead = Atomics.load(header, RingWord.head);
    if (this.seenHead !== this.tail) return;
    this.base = this.tail;
    Atomics.store(header, RingWord.base, this.base);
  }

  private fills(): boolean {
    const { header, capacity } = this.view;
    const used = (): number => (this.tail - this.seenHead) >>> 0;
    if (used() <= capacity / FILLS) return false;
    this.seenHead = Atomics.load(header, RingWord.head);
    return used() > capacity / FILLS;
  }

  /** Counts records that a writer dropped; consumer and metrics read the count. */
  countDropped(records: number): void {
    Atomics.add(this.view.header, RingWord.dropped, records);
  }

  /** Records dropped so far, by every producer of this ring, modulo 2^32. */
  get dropped(): number {
    return Atomics.load(this.view.header, RingWord.dropped) >>> 0;
  }

  /** No more pushes. The consumer still receives earlier records. */
  close(): void {
    Atomics.store(this.view.header, RingWord.producerClosed, 1);
    ringBell(this.view.header, RingWord.dataWanted, RingWord.tail, true);
  }
}
