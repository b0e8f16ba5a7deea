// Cuts bytes that arrive in pieces into lines. Invariant: a byte is copied once, however small the pieces are; what waits for its line's
// end is bounded by the caller, see `waiting`.

export class Lines {
  private parts: Buffer[] = [];
  /** Bytes of the line that has not ended yet. */
  waiting = 0;

  /**
   * The next line of `piece` from `at` on, a byte string without its "\n", and where the next one begins. Undefined when the piece ends
   * first: its rest is kept for the next call.
   */
  next(piece: Buffer, at: number): { line: string; next: number } | undefined {
    const end = piece.indexOf(0x0a, at);
    if (end < 0) {
      if (at < piece.length) this.keep(piece.subarray(at));
      return undefined;
    }
    if (this.waiting === 0) return { line: piece.toString("latin1", at, end), next: end + 1 };
    this.keep(piece.subarray(at, end));
    const line = this.take();
    return { line, next: end + 1 };
  }

  /** The line that has not ended, when no more bytes come. */
  take(): string {
    const line = Buffer.concat(this.parts).toString("latin1");
    this.parts = [];
    this.waiting = 0;
    return line;
  }

  private keep(part: Buffer): void {
    this.parts.push(part);
    this.waiting += part.length;
  }
}

/** Without the "\r" of a line that ended with "\r\n". */
export const withoutCr = (line: string): string => (line.endsWith("\r") ? line.slice(0, -1) : line);
