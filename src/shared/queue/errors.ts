// One class per kind of queue failure, each with its guard. Guards compare names: errors lose their class across
// threads.

/** The ring's lengths or positions are inconsistent: memory was overwritten. The ring is unusable from then on. */
export class RingCorruptError extends Error {
  override readonly name = "RingCorruptError";
  constructor(detail: string) {
    super(`ring queue is corrupt: ${detail}; restart the producing thread to get a fresh ring`);
  }
}

/** Pushed after one side closed the ring. */
export class RingClosedError extends Error {
  override readonly name = "RingClosedError";
  constructor(by: "producer" | "consumer") {
    super(`record pushed to a ring that its ${by} closed: make a new writer on the thread's current ring`);
  }
}

const isNamed = (error: unknown, name: string): boolean => error instanceof Error && error.name === name;

export const isRingCorrupt = (error: unknown): error is RingCorruptError => isNamed(error, "RingCorruptError");
export const isRingClosed = (error: unknown): error is RingClosedError => isNamed(error, "RingClosedError");
