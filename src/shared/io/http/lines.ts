// Cuts bytes that arrive in pieces into lines. Invariant: what waits for its line's end is copied into one buffer, so
// that a thousand pieces of a byte take a kilobyte and not an object each; a byte is copied about twice, however small
// the pieces are. `waiting` is for the caller's limit.

const NOTHING = Buffer.alloc(0);
const SMALLEST = 256;
/** A larger buffer is not kept for the next line. */
const KEPT = 4096;

export class Lines {
  private buffer = NOTHING;
  /** Bytes of the line that has not ended yet. */
  waiting = 0;

  /**
   * The next line of `piece` from `at` on, a byte string without its "\n", and where the next one begins. Undefined
   * when the piece ends first: its rest is kept for the next call.
   */
  next(piece: Buffer, at: number): { line: string; next: number } | undefined {
    const end = piece.indexOf(0x0a, at);
    if (end < 0) {
      this.keep(piece, at, piece.length);
      return undefined;
    }
    if (this.waiting === 0) return { line: piece.toString("latin1", at, end), next: end + 1 };
    this.keep(piece, at, end);
    const line = this.take();
    return { line, next: end + 1 };
  }

  /** The line that has not ended, when no more bytes come. */
  take(): string {
    const line = this.buffer.toString("latin1", 0, this.waiting);
    this.waiting = 0;
    if (this.buffer.length > KEPT) this.buffer = NOTHING;
    return line;
  }

  private keep(piece: Buffer, from: number, to: number): void {
    const needed = this.waiting + to - from;
    if (needed > this.buffer.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(SMALLEST, needed, 2 * this.waiting));
      this.buffer.copy(larger, 0, 0, this.waiting);
      this.buffer = larger;
    }
    piece.copy(this.buffer, this.waiting, from, to);
    this.waiting = needed;
  }
}

/** Without the "\r" of a line that ended with "\r\n". */
export const withoutCr = (line: string): string => (line.endsWith("\r") ? line.slice(0, -1) : line);
