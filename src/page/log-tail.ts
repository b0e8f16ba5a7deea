// The last lines of a log that arrives in pieces. Pure.
// Invariant: it keeps at most MAX_LINES lines of MAX_LINE characters each.

export const MAX_LINES = 2000;
const MAX_LINE = 4000;

/** Control sequences of terminals: colours, cursor moves. ECMA-48, CSI. */
// eslint's no-control-regex is not active here: the text contains escape characters on purpose.
const CONTROL = /\u001b\[[0-?]*[ -/]*[@-~]/g;

export class LogTail {
  readonly lines: string[] = [];
  private rest = "";

  /** Returns the new whole lines. */
  push(piece: string): string[] {
    const parts = (this.rest + piece).split("\n");
    // A line without an end is cut, so that it cannot grow.
    this.rest = (parts.pop() ?? "").slice(0, 2 * MAX_LINE);
    const added = parts.map((line) => line.replace(CONTROL, "").slice(0, MAX_LINE)).slice(-MAX_LINES);
    this.lines.push(...added);
    this.lines.splice(0, Math.max(this.lines.length - MAX_LINES, 0));
    return added;
  }

  /** The log has ended: its last line may have no line end. */
  end(): string[] {
    return this.rest === "" ? [] : this.push("\n");
  }
}
