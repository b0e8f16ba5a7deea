// The memory map: every word of shared memory that two threads access is named here and nowhere else. Words are 32
// bits. Each word that one thread writes often has its own cache line. So a push does not slow down a drain. Every
// change here increments LAYOUT_VERSION.

/** Checked at hello: a worker file newer than the running main (an upgrade in place) is refused, not misread. */
export const LAYOUT_VERSION = 6;

export const WORD_BYTES = 4;

/** Header of a ring; the record bytes follow at RING_HEADER_BYTES. Positions count bytes and wrap at 2^32. */
export const RingWord = {
  /** Layout version the ring was made with. Written once. */
  version: 0,
  /** Bytes of the data area, a power of two. Written once. */
  capacity: 1,
  /** Producer: 1 once it pushes no more. */
  producerClosed: 2,
  /** Consumer: 1 once it takes no more. */
  consumerClosed: 3,
  /** Producer: position after the last complete record. */
  tail: 16,
  /** Producer: records pushed, modulo 2^32. */
  pushed: 17,
  /** Producer: records a QueueWriter gave up on, modulo 2^32. */
  dropped: 18,
  /**
   * Producer: position of the first byte of the data area. Changes only while the ring is empty, before `tail` does.
   */
  base: 19,
  /** Consumer: position before the first record not yet taken. */
  head: 32,
  /** Consumer sets 1 before it sleeps on `tail`; the ringer clears it. */
  dataWanted: 48,
  /** Producer sets 1 before it sleeps on `head`; the ringer clears it. */
  spaceWanted: 64,
} as const;

export const RING_HEADER_BYTES = 80 * WORD_BYTES;

/** Each record: its length in one word, then its bytes, padded to a whole word. */
export const RECORD_HEADER_BYTES = WORD_BYTES;

/** Board: one slot of one cache line per thread. Only the thread that owns a slot writes it while the thread runs. */
export const BOARD_SLOT_WORDS = 16;

export const BoardWord = {
  /** Monotonic time of the last stamp, whole ms modulo 2^32. */
  lastTick: 0,
  /** Stamps made so far; 0 means the slot was never used. */
  stamps: 1,
  /** Event-loop delay over the rolling window, µs. */
  loopDelayMax: 2,
  loopDelayMean: 3,
  /** Records waiting in the thread's own queues. */
  queueDepth: 4,
  /** Generation of the thread, from 1. */
  generation: 5,
  /** Index into THREAD_STATES (board.ts). */
  state: 6,
  /** The current operation of the thread: a code of its contract; 0 is idle. */
  op: 7,
  /** Monotonic start of the operation, ms modulo 2^32. */
  opSince: 8,
  /** Monotonic time of the last successful round of the thread's own duty, ms modulo 2^32. */
  lastWork: 9,
  /** Number of such rounds; 0 means none yet. */
  works: 10,
  /** From the eviction thread: a bit for each pressure of the node (the contract names them). */
  pressures: 11,
} as const;

/** The log's block: one for all threads. */
export const LogWord = {
  /** The present -v; main writes it. */
  verbosity: 0,
  /** Number of the newest flush that main requested. */
  flushAsked: 1,
  /** Number of the newest completed flush; the log thread writes it. */
  flushDone: 2,
} as const;

export const LOG_WORDS = 16;

/** Header of the last log lines; their bytes follow at RECENT_HEADER_BYTES. Positions count bytes and wrap at 2^32. */
export const RecentWord = {
  /** Position after the newest byte. */
  tail: 0,
  /** Position up to which bytes may be in the course of being written. */
  reserved: 1,
  /** 1 once the data area has been filled. */
  full: 2,
} as const;

export const RECENT_HEADER_BYTES = 16 * WORD_BYTES;
