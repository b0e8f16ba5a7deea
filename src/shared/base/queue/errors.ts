// The failures of a ring that its reader and writer handle differently; every other one is a QueueError.

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
