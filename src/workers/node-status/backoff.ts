// Waits between tries to make the Node or its lease: each twice the one before, up to 7 s.
const LONGEST_MS = 7000;

export class Backoff {
  constructor(private waitMs: number) {}

  /** Twice the wait before. */
  next(): number {
    this.waitMs = Math.min(2 * this.waitMs, LONGEST_MS);
    return this.waitMs;
  }
}
