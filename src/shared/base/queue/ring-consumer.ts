// The draining side of a ring. One thread, one consumer. Records are copied out in batches, into memory of their own.
// Decoders may keep views, and text decoders refuse shared memory. The producer gets its room back before the first
// record is handled.

import { invariant } from "../errors/invariant.js";
import { ring as ringBell } from "./doorbell.js";
import { RingCorruptError } from "./errors.js";
import { RECORD_HEADER_BYTES, RingWord, WORD_BYTES } from "./layout.js";
import { framedBytes, usedBytes, viewRing, type RingBuffers, type RingView } from "./ring-view.js";

/** Largest copy at once, unless one record is longer. */
const BATCH_BYTES = 64 * 1024;

export class RingConsumer {
  private readonly view: RingView;
  private head: number;
  /** Copied records that were not handed over yet, framed as in the ring; a handler that throws loses only its own. */
  private batch = new Uint8Array(0);
  private batchLengths = new Int32Array(0);
  private batchAt = 0;
  private corrupt: RingCorruptError | undefined;

  constructor(readonly buffers: RingBuffers) {
    this.view = viewRing(buffers);
    this.head = Atomics.load(this.view.header, RingWord.head);
  }

  /** Waiting bytes: in the ring, and copied but not handed over. 0 means empty. */
  get depth(): number {
    return usedBytes(this.view.header) + this.batch.length - this.batchAt;
  }

  /** Records that the producer's writer dropped. */
  get dropped(): number {
    return Atomics.load(this.view.header, RingWord.dropped) >>> 0;
  }

  /** The producer closed and everything it pushed was drained. */
  get ended(): boolean {
    return Atomics.load(this.view.header, RingWord.producerClosed) !== 0 && this.depth === 0;
  }

  /** Position a doorbell sleeps on: nothing is waiting while tail equals it. */
  get position(): number {
    return this.head;
  }

  get header(): Int32Array {
    return this.view.header;
  }

  /**
   * Hands over at most `max` records, oldest first, until the ring is empty; give `max` when the producer may be as
   * fast as `onRecord`, or the call may never end. Each `bytes` is private memory of the receiver. If `onRecord`
   * throws, that record counts as taken and the next call continues after it.
   * @returns the number of records handed over.
   * @throws RingCorruptError, now and on every later call, when lengths or positions make no sense.
   */
  drain(onRecord: (bytes: Uint8Array) => void, max = Infinity): number {
    let count = 0;
    while (count < max) {
      if (this.batchAt >= this.batch.length && !this.takeBatch()) break;
      const length = this.batchLengths[this.batchAt / WORD_BYTES] ?? 0;
      const start = this.batchAt + RECORD_HEADER_BYTES;
      this.batchAt += framedBytes(length);
      count++;
      onRecord(this.batch.subarray(start, start + length));
    }
    return count;
  }

  /**
   * The next batch. The records are copied and stay in the ring. If the consumer exits before takePeeked(), its
   * successor reads the same records. Do not mix with drain(). Empty when no record waits.
   * @throws RingCorruptError as drain() does.
   */
  peek(): Uint8Array[] {
    invariant(this.batchAt >= this.batch.length, "peek() follows no drain() that left records");
    const bytes = this.copyBatch();
    const records: Uint8Array[] = [];
    while (this.batchAt < bytes) {
      const length = this.batchLengths[this.batchAt / WORD_BYTES] ?? 0;
      const start = this.batchAt + RECORD_HEADER_BYTES;
      this.batchAt += framedBytes(length);
      records.push(this.batch.subarray(start, start + length));
    }
    return records;
  }

  /** Removes the batch that peek() returned: its space is free for the producer again. */
  takePeeked(): void {
    this.advance(this.batchAt);
    this.batch = new Uint8Array(0);
    this.batchAt = 0;
  }

  /** Counts records that were taken and dropped, beside those that the producer dropped. */
  countDropped(records: number): void {
    Atomics.add(this.view.header, RingWord.dropped, records);
  }

  /** Takes no more records: the producer's next push fails with RingClosedError. */
  close(): void {
    Atomics.store(this.view.header, RingWord.consumerClosed, 1);
    ringBell(this.view.header, RingWord.spaceWanted, RingWord.head);
  }

  private takeBatch(): boolean {
    const bytes = this.copyBatch();
    this.advance(bytes);
    return bytes > 0;
  }

  /** @returns its bytes, from the head on; 0 when nothing waits. */
  private copyBatch(): number {
    if (this.corrupt !== undefined) throw this.corrupt;
    const { header, data, mask, capacity } = this.view;
    const bytes = this.measureBatch();
    if (bytes === 0) return 0;
    const batch = new Uint8Array(bytes);
    const start = (this.head - Atomics.load(header, RingWord.base)) & mask;
    const first = Math.min(bytes, capacity - start);
    batch.set(data.subarray(start, start + first));
    if (first < bytes) batch.set(data.subarray(0, bytes - first), first);
    this.batch = batch;
    this.batchLengths = new Int32Array(batch.buffer);
    this.batchAt = 0;
    return bytes;
  }

  private advance(bytes: number): void {
    if (bytes === 0) return;
    const { header } = this.view;
    invariant(Atomics.load(header, RingWord.head) === this.head, "a ring has one consumer");
    this.head = (this.head + bytes) | 0;
    Atomics.store(header, RingWord.head, this.head);
    ringBell(header, RingWord.spaceWanted, RingWord.head);
  }

  /** Length in bytes of the next batch of whole records. Checks each length, so that the batch needs no more checks. */
  private measureBatch(): number {
    const { header, lengths, mask, capacity, maxRecordBytes } = this.view;
    const tail = Atomics.load(header, RingWord.tail);
    const available = (tail - this.head) >>> 0;
    if (available > capacity || available % WORD_BYTES !== 0) {
      throw this.fail(`${available} bytes waiting in a ring of ${capacity}`);
    }
    // Read after the tail: the base does not change before the waiting records are taken.
    const start = this.head - Atomics.load(header, RingWord.base);
    let bytes = 0;
    while (bytes < available) {
      const length = lengths[((start + bytes) & mask) / WORD_BYTES] ?? -1;
      const size = length < 0 || length > maxRecordBytes ? Infinity : framedBytes(length);
      if (bytes + size > available) {
        // The records before the bad length are still valid.
        if (bytes > 0) return bytes;
        throw this.fail(`a record claims ${length} bytes where ${available - RECORD_HEADER_BYTES} are left`);
      }
      if (bytes > 0 && bytes + size > BATCH_BYTES) return bytes;
      bytes += size;
    }
    return bytes;
  }

  private fail(detail: string): RingCorruptError {
    this.corrupt = new RingCorruptError(detail);
    this.close();
    return this.corrupt;
  }
}
