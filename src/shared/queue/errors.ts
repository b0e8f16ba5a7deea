// One class per kind of queue failure, each with its guard. Guards compare names: errors lose their class across
// threads.

/** A record longer than the ring can ever hold. */
export class RecordTooLargeError extends Error {
  override readonly name = "RecordTooLargeError";
  readonly code = "RECORD_TOO_LARGE";
  constructor(
    readonly recordBytes: number,
    readonly maxBytes: number,
  ) {
    super(
      `record of ${recordBytes} bytes pushed to a ring that holds records of at most ${maxBytes} bytes: ` +
        "split the record or create the ring with a larger capacity",
    );
  }
}

/** The ring's lengths or positions are inconsistent: memory was overwritten. The ring is unusable from then on. */
export class RingCorruptError extends Error {
  override readonly name = "RingCorruptError";
  readonly code = "RING_CORRUPT";
  constructor(detail: string) {
    super(`ring queue is corrupt: ${detail}; restart the producing thread to get a fresh ring`);
  }
}

/** Pushed after one side closed the ring. */
export class RingClosedError extends Error {
  override readonly name = "RingClosedError";
  readonly code = "RING_CLOSED";
  constructor(by: "producer" | "consumer") {
    super(`record pushed to a ring that its ${by} closed: make a new writer on the thread's current ring`);
  }
}

/** The shared memory was laid out by another version of this program. */
export class RingLayoutError extends Error {
  override readonly name = "RingLayoutError";
  readonly code = "RING_LAYOUT";
  constructor(found: number, expected: number) {
    super(`ring has layout version ${found}, this thread reads version ${expected}: restart the process`);
  }
}

/** A back-pressure queue reached its limit: the consumer is too slow or has exited. */
export class QueueFullError extends Error {
  override readonly name = "QueueFullError";
  readonly code = "QUEUE_FULL";
  constructor(
    readonly queue: string,
    readonly pending: number,
  ) {
    super(`queue ${queue}: ring full and ${pending} records pending: stop producing until the consumer catches up`);
  }
}

const isNamed = (error: unknown, name: string): boolean => error instanceof Error && error.name === name;

export const isRingCorrupt = (error: unknown): error is RingCorruptError => isNamed(error, "RingCorruptError");
export const isRingClosed = (error: unknown): error is RingClosedError => isNamed(error, "RingClosedError");
