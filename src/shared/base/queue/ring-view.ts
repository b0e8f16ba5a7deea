// SPSC ring of byte records in shared memory: the part that both sides use.
// Invariant: bytes in [head, tail) are whole records; only the producer moves tail, only the consumer moves head; tail
// moves after the record's last byte is written, so a producer killed in mid-write has published nothing. A position's
// bytes lie at (position - base) modulo the capacity.

import { invariant } from "../errors/invariant.js";
import { LAYOUT_VERSION, RECORD_HEADER_BYTES, RING_HEADER_BYTES, RingWord, WORD_BYTES } from "./layout.js";
import { QueueError } from "./queue-error.js";

const DEFAULT_RING_BYTES = 4 * 1024 * 1024;
const MIN_RING_BYTES = 64;
const MAX_RING_BYTES = 1024 * 1024 * 1024;

/** Passed to the other thread: structured-cloneable, cloned by reference to the same memory. */
export interface RingBuffers {
  memory: SharedArrayBuffer;
}

export interface RingOptions {
  /** Bytes for records and their 4-byte lengths; rounded up to a power of two. Default 4 MiB. */
  capacityBytes?: number;
}

export function createRing(options: RingOptions = {}): RingBuffers {
  const wanted = options.capacityBytes ?? DEFAULT_RING_BYTES;
  if (!Number.isInteger(wanted) || wanted < 1 || wanted > MAX_RING_BYTES) {
    throw new RangeError(`ring capacity of ${wanted} bytes: use a whole number from 1 to ${MAX_RING_BYTES}`);
  }
  const capacity = Math.max(MIN_RING_BYTES, 2 ** Math.ceil(Math.log2(wanted)));
  const memory = new SharedArrayBuffer(RING_HEADER_BYTES + capacity);
  const words = new Int32Array(memory);
  words[RingWord.version] = LAYOUT_VERSION;
  words[RingWord.capacity] = capacity;
  return { memory };
}

/** Typed views of one ring, made by each side for itself. */
export interface RingView {
  /** Header words; index with RingWord. */
  header: Int32Array;
  /** Data area as words, for record lengths. */
  lengths: Int32Array;
  data: Uint8Array;
  capacity: number;
  mask: number;
  maxRecordBytes: number;
}

export function viewRing(buffers: RingBuffers): RingView {
  const header = new Int32Array(buffers.memory, 0, RING_HEADER_BYTES / WORD_BYTES);
  const version = Atomics.load(header, RingWord.version);
  if (version !== LAYOUT_VERSION)
    throw new QueueError(
      `ring has layout version ${version}, this thread reads version ${LAYOUT_VERSION}: restart the process`,
    );
  const capacity = Atomics.load(header, RingWord.capacity);
  invariant(capacity >= MIN_RING_BYTES && (capacity & (capacity - 1)) === 0, "a ring's capacity is a power of two");
  return {
    header,
    lengths: new Int32Array(buffers.memory, RING_HEADER_BYTES, capacity / WORD_BYTES),
    data: new Uint8Array(buffers.memory, RING_HEADER_BYTES, capacity),
    capacity,
    mask: capacity - 1,
    maxRecordBytes: capacity - RECORD_HEADER_BYTES,
  };
}

/** Bytes a record of `length` bytes takes in the ring. */
export function framedBytes(length: number): number {
  return RECORD_HEADER_BYTES + ((length + WORD_BYTES - 1) & -WORD_BYTES);
}

/** Bytes waiting between head and tail; positions wrap at 2^32, their difference does not. */
export function usedBytes(header: Int32Array): number {
  return (Atomics.load(header, RingWord.tail) - Atomics.load(header, RingWord.head)) >>> 0;
}
