// The word map: every 32-bit word that two threads share is named here and nowhere else.
// Words that different threads write never sit in the same cache line, so that one side's stores do not slow the other.
// Any change of place or meaning raises LAYOUT_VERSION; a worker built against another version is refused at hello.

/** Version of everything in this file. */
export const LAYOUT_VERSION = 1;

/** 32-bit words in a line: 128 bytes, because x86 prefetches cache lines in pairs. */
export const LINE_WORDS = 32;

/** Ring header, as word indexes. The record bytes follow it at RING_DATA_OFFSET. */
export const RingWord = {
  // Producer's line.
  /** Free-running byte position after the last complete record, modulo 2^32. Published after the record is written. */
  tail: 0,
  /** 1 once the producer will push no more. */
  producerClosed: 1,
  /** Values the producer gave up (a full queue past its limit, a close with records pending); each was reported. */
  dropped: 2,
  /** Pushes that found the ring full. */
  full: 3,
  // Consumer's line.
  /** Free-running byte position of the first unread record, modulo 2^32. */
  head: 32,
  /** 1 once the consumer will read no more. */
  consumerClosed: 33,
  // Data bell: rung by the producer, waited on by the consumer.
  dataSequence: 64,
  dataWaiting: 65,
  // Space bell: rung by the consumer, waited on by the producer.
  spaceSequence: 96,
  spaceWaiting: 97,
} as const;

/** Byte offset of the ring's data area. */
export const RING_DATA_OFFSET = 4 * LINE_WORDS * 4;

/** A record is a 32-bit length and its bytes, padded to this many bytes so that a length never straddles the end. */
export const RECORD_ALIGN = 4;

/** Bytes of a record's length prefix. */
export const RECORD_HEADER = 4;

/** A thread's line on the board, as word offsets from the line's start. */
export const BoardWord = {
  // Written by the thread itself.
  /** Milliseconds since the board's epoch at the last loop tick, modulo 2^32. */
  lastTick: 0,
  /** Largest event-loop delay in the rolling window, microseconds. */
  loopDelayMax: 1,
  /** Mean event-loop delay in the rolling window, microseconds. */
  loopDelayMean: 2,
  /** Records waiting on the thread, as it last counted them. */
  queueDepth: 3,
  /** What the thread is doing: a code of its own table, 0 = nothing in particular. */
  op: 4,
  /** Milliseconds since the board's epoch when `op` was last set, modulo 2^32. */
  opSince: 5,
  // Written by the supervisor.
  /** How many times the thread has been started; the first start is generation 1. */
  generation: 6,
  /** Index into THREAD_STATES. */
  state: 7,
} as const;

/** Words of a thread's line on the board. */
export const BOARD_LINE_WORDS = LINE_WORDS;

/** Life of a supervised thread, in order; the board holds the index. */
export const THREAD_STATES = ["spawned", "ready", "running", "draining", "exited"] as const;

export type ThreadState = (typeof THREAD_STATES)[number];
