// The ring queue: single producer, single consumer, bounded, byte records in one SharedArrayBuffer.
//
// Invariants:
// - Positions are free-running modulo 2^32 and the capacity is a power of two, so `tail - head` is always the bytes in use.
// - Only the producer writes tail and the data area; only the consumer writes head.
// - The producer publishes tail after the record is complete: killed in mid-write, it has published nothing.
// - Records start on RECORD_ALIGN, so a length prefix never wraps; record bytes may.
// - The consumer copies before it looks, and trusts no length: what does not add up is a RingCorruptError, never a bad read.
import { RecordTooLargeError, RingClosedError, RingCorruptError } from "./errors.js";
import { ring, type BellWords } from "./doorbell.js";
import { RECORD_ALIGN, RECORD_HEADER, RING_DATA_OFFSET, RingWord } from "./layout.js";

/** What both sides need to open the ring. Structured-cloneable: goes through workerData or postMessage as it is. */
export interface RingBuffers {
  readonly memory: SharedArrayBuffer;
  /** Bytes of the data area: a power of two. */
  readonly capacityBytes: number;
}

export const MIN_CAPACITY = 64;
export const MAX_CAPACITY = 1 << 30;

/** Bytes the consumer copies out at a time; a longer record is copied alone. */
const BATCH_BYTES = 32 * 1024;
/** Up to this size a byte loop beats `TypedArray.set` with its subarray. */
const SMALL_COPY = 48;

/** Makes a ring of at least `capacityBytes` (rounded up to a power of two; a record costs 4 bytes and padding to 4). */
export function createRing(options: { capacityBytes: number }): RingBuffers {
  const wanted = options.capacityBytes;
  if (!Number.isInteger(wanted) || wanted < 1 || wanted > MAX_CAPACITY)
    throw new RangeError(`ring capacity must be a whole number of bytes from 1 to ${MAX_CAPACITY}, not ${wanted}`);
  let capacityBytes = MIN_CAPACITY;
  while (capacityBytes < wanted) capacityBytes *= 2;
  return { memory: new SharedArrayBuffer(RING_DATA_OFFSET + capacityBytes), capacityBytes };
}

interface View {
  readonly words: Int32Array;
  readonly lengths: Int32Array;
  readonly data: Uint8Array;
  readonly capacity: number;
}

function viewOf(buffers: RingBuffers): View {
  const { memory, capacityBytes } = buffers;
  if (memory.byteLength !== RING_DATA_OFFSET + capacityBytes || (capacityBytes & (capacityBytes - 1)) !== 0)
    throw new RingCorruptError(`a memory of ${memory.byteLength} bytes is not a ring of capacity ${capacityBytes}`);
  return {
    words: new Int32Array(memory, 0, RING_DATA_OFFSET / 4),
    lengths: new Int32Array(memory, RING_DATA_OFFSET),
    data: new Uint8Array(memory, RING_DATA_OFFSET),
    capacity: capacityBytes,
  };
}

function dataBell(words: Int32Array): BellWords {
  return { words, sequence: RingWord.dataSequence, waiting: RingWord.dataWaiting };
}

function spaceBell(words: Int32Array): BellWords {
  return { words, sequence: RingWord.spaceSequence, waiting: RingWord.spaceWaiting };
}

function footprint(bytes: number): number {
  return RECORD_HEADER + ((bytes + RECORD_ALIGN - 1) & ~(RECORD_ALIGN - 1));
}

/** Whether a record of this length lies within `room` bytes; the length may be garbage, so no overflow. */
function fits(length: number, room: number): boolean {
  return length >= 0 && length <= room - RECORD_HEADER && footprint(length) <= room;
}

/** The writing side. One per ring, in one thread. */
export class RingProducer {
  private readonly view: View;
  private readonly bell: BellWords;
  private readonly mask: number;
  /** Largest record that fits the empty ring, bytes. */
  readonly maxRecordBytes: number;
  private tail: number;
  private head: number;
  /** Rung by the consumer when it made space for a producer that waits. */
  readonly spaceBell: BellWords;

  constructor(buffers: RingBuffers) {
    this.view = viewOf(buffers);
    this.mask = buffers.capacityBytes - 1;
    this.maxRecordBytes = buffers.capacityBytes - RECORD_HEADER;
    this.bell = dataBell(this.view.words);
    this.spaceBell = spaceBell(this.view.words);
    this.tail = Atomics.load(this.view.words, RingWord.tail) >>> 0;
    this.head = Atomics.load(this.view.words, RingWord.head) >>> 0;
  }

  /**
   * Appends one record and wakes the consumer if it sleeps. False: no space now.
   * Throws RecordTooLargeError for what can never fit, RingClosedError after either side closed.
   */
  tryPush(record: Uint8Array): boolean {
    const { words, data, lengths, capacity } = this.view;
    const length = record.length;
    if (length > this.maxRecordBytes) throw new RecordTooLargeError(length, this.maxRecordBytes);
    this.assertOpen();
    const need = footprint(length);
    if (capacity - ((this.tail - this.head) >>> 0) < need) {
      this.head = Atomics.load(words, RingWord.head) >>> 0;
      if (capacity - ((this.tail - this.head) >>> 0) < need) {
        Atomics.add(words, RingWord.full, 1);
        return false;
      }
    }
    lengths[(this.tail & this.mask) >>> 2] = length;
    this.write(data, record, (this.tail + RECORD_HEADER) & this.mask);
    this.tail = (this.tail + need) >>> 0;
    Atomics.store(words, RingWord.tail, this.tail | 0);
    ring(this.bell);
    return true;
  }

  /** Bytes of the data area that hold unread records, as of now. */
  usedBytes(): number {
    this.head = Atomics.load(this.view.words, RingWord.head) >>> 0;
    return (this.tail - this.head) >>> 0;
  }

  /** Whether a record of `length` bytes would fit now. */
  hasSpaceFor(length: number): boolean {
    return this.view.capacity - this.usedBytes() >= footprint(length);
  }

  /** Counts values that the writer gave up, where the other side can see it. */
  addDropped(count: number): void {
    Atomics.add(this.view.words, RingWord.dropped, count);
  }

  /** No more pushes; what is in the ring can still be drained. */
  close(): void {
    Atomics.store(this.view.words, RingWord.producerClosed, 1);
    ring(this.bell);
  }

  /** True once the consumer has gone. */
  get consumerClosed(): boolean {
    return Atomics.load(this.view.words, RingWord.consumerClosed) === 1;
  }

  private assertOpen(): void {
    const { words } = this.view;
    if (Atomics.load(words, RingWord.consumerClosed) === 1) throw new RingClosedError("consumer");
    if (Atomics.load(words, RingWord.producerClosed) === 1) throw new RingClosedError("producer");
  }

  private write(data: Uint8Array, record: Uint8Array, at: number): void {
    const length = record.length;
    const first = this.view.capacity - at;
    if (length > first) {
      data.set(record.subarray(0, first), at);
      data.set(record.subarray(first), 0);
    } else if (length <= SMALL_COPY) {
      for (let i = 0; i < length; i++) data[at + i] = record[i] ?? 0;
    } else {
      data.set(record, at);
    }
  }
}

/** The reading side. One per ring, in one thread. */
export class RingConsumer {
  private readonly view: View;
  private readonly mask: number;
  private readonly space: BellWords;
  private head: number;
  private batch = new Uint8Array(0);
  private draining = false;
  private corrupt: RingCorruptError | undefined;
  /** Rung by the producer when it pushed for a consumer that waits. */
  readonly dataBell: BellWords;

  constructor(buffers: RingBuffers) {
    this.view = viewOf(buffers);
    this.mask = buffers.capacityBytes - 1;
    this.dataBell = dataBell(this.view.words);
    this.space = spaceBell(this.view.words);
    this.head = Atomics.load(this.view.words, RingWord.head) >>> 0;
  }

  /**
   * Hands over up to `max` complete records in order and returns how many.
   * `bytes` is a view that is valid only during the call: copy what you keep. If `onRecord` throws, that record counts
   * as read and the error is passed on. Throws RingCorruptError, now and ever after, once the ring makes no sense.
   */
  drain(onRecord: (bytes: Uint8Array) => void, max = Number.POSITIVE_INFINITY): number {
    if (this.corrupt !== undefined) throw this.corrupt;
    if (this.draining) throw new Error("ring queue drained from inside its own onRecord callback");
    this.draining = true;
    const start = this.head;
    let count = 0;
    try {
      while (count < max) {
        const available = this.readable();
        if (available === 0) break;
        count += this.drainBatch(this.fill(available), onRecord, max - count);
      }
    } finally {
      this.draining = false;
      if (this.head !== start) this.release();
    }
    return count;
  }

  /** Bytes waiting, record headers included; 0 means empty. */
  get depthBytes(): number {
    return (Atomics.load(this.view.words, RingWord.tail) - this.head) >>> 0;
  }

  /** True when nothing waits. */
  get empty(): boolean {
    return Atomics.load(this.view.words, RingWord.tail) >>> 0 === this.head;
  }

  /** True when the producer closed; with `empty` this is the end of the stream. */
  get producerClosed(): boolean {
    return Atomics.load(this.view.words, RingWord.producerClosed) === 1;
  }

  /** Values the producer's writer gave up, each reported on its side. */
  get dropped(): number {
    return Atomics.load(this.view.words, RingWord.dropped);
  }

  /** Pushes that found the ring full. */
  get full(): number {
    return Atomics.load(this.view.words, RingWord.full);
  }

  /** Refuses all further pushes. */
  close(): void {
    Atomics.store(this.view.words, RingWord.consumerClosed, 1);
    ring(this.space);
  }

  private readable(): number {
    const available = (Atomics.load(this.view.words, RingWord.tail) - this.head) >>> 0;
    if (available > this.view.capacity || (available & (RECORD_ALIGN - 1)) !== 0)
      throw this.poison(`${available} bytes in use of ${this.view.capacity}`);
    return available;
  }

  private poison(detail: string): RingCorruptError {
    this.corrupt = new RingCorruptError(detail);
    return this.corrupt;
  }

  private lengthAt(available: number): number {
    const length = this.view.lengths[(this.head & this.mask) >>> 2] ?? -1;
    if (!fits(length, available))
      throw this.poison(`record length ${length} at position ${this.head} with ${available} bytes readable`);
    return length;
  }

  /** Copies the next stretch of records into private memory, unwrapped; returns its bytes, at least one whole record. */
  private fill(available: number): number {
    const size = Math.min(available, Math.max(BATCH_BYTES, footprint(this.lengthAt(available))));
    if (this.batch.length < size) this.batch = new Uint8Array(Math.min(this.view.capacity, Math.max(size, BATCH_BYTES)));
    const at = this.head & this.mask;
    const first = Math.min(size, this.view.capacity - at);
    this.batch.set(this.view.data.subarray(at, at + first), 0);
    if (first < size) this.batch.set(this.view.data.subarray(0, size - first), first);
    return size;
  }

  private drainBatch(size: number, onRecord: (bytes: Uint8Array) => void, max: number): number {
    const { batch } = this;
    let count = 0;
    let at = 0;
    while (count < max && at < size) {
      const length =
        (batch[at] ?? 0) | ((batch[at + 1] ?? 0) << 8) | ((batch[at + 2] ?? 0) << 16) | ((batch[at + 3] ?? 0) << 24);
      if (!fits(length, size - at)) {
        // Either the batch ended inside this record, or the length is garbage; the shared side knows which.
        this.lengthAt(this.readable());
        if (count === 0) throw this.poison(`record length changed under the reader at position ${this.head}`);
        break;
      }
      const need = footprint(length);
      this.head = (this.head + need) >>> 0;
      count++;
      onRecord(batch.subarray(at + RECORD_HEADER, at + RECORD_HEADER + length));
      at += need;
    }
    // Freed batch by batch, so that a producer at full speed is not held until the end of the drain.
    Atomics.store(this.view.words, RingWord.head, this.head | 0);
    return count;
  }

  private release(): void {
    Atomics.store(this.view.words, RingWord.head, this.head | 0);
    ring(this.space);
  }
}
