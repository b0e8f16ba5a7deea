// A stream of bytes cut at its newlines.

import { ObjectBlocks, type OnOversized } from "../decode/oversized.js";

const NEWLINE = 0x0a;

/** A longer line is an error: a stream without newlines is not a watch. */
export const LINE_LIMIT = 64 * 1024 * 1024;

/**
 * Blocks in, whole lines out, without their newline; a line may have come in many blocks. Lines too long are skipped.
 */
export class LineCutter {
  private readonly parts = new ObjectBlocks();

  constructor(private readonly onOversized: OnOversized = () => undefined) {}

  *push(block: Buffer): Generator<Buffer> {
    let start = 0;
    for (let end = block.indexOf(NEWLINE); end >= 0; end = block.indexOf(NEWLINE, start)) {
      const line = this.parts.take(block.subarray(start, end));
      start = end + 1;
      if (line === undefined) this.onOversized(this.parts.head);
      else if (line.length > 0) yield line;
    }
    if (start === block.length) return;
    this.parts.push(block.subarray(start));
    if (this.parts.length > LINE_LIMIT) throw new RangeError(`a line of more than ${LINE_LIMIT / 1024 / 1024} MiB`);
  }
}
