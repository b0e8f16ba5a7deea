// A stream of bytes cut at its newlines.

const NEWLINE = 0x0a;

/** Longer than any object that etcd holds: a stream that has no newlines is none of ours. */
const LINE_LIMIT = 64 * 1024 * 1024;

/** Blocks in, whole lines out, without their newline; a line may have come in many blocks. */
export class LineCutter {
  private parts: Buffer[] = [];
  private size = 0;

  *push(block: Buffer): Generator<Buffer> {
    let start = 0;
    for (let end = block.indexOf(NEWLINE); end >= 0; end = block.indexOf(NEWLINE, start)) {
      const line = this.take(block.subarray(start, end));
      start = end + 1;
      if (line.length > 0) yield line;
    }
    if (start === block.length) return;
    this.parts.push(block.subarray(start));
    this.size += block.length - start;
    if (this.size > LINE_LIMIT) throw new RangeError(`a line of more than ${LINE_LIMIT / 1024 / 1024} MiB`);
  }

  /** What came after the last newline. */
  rest(): Buffer {
    return this.take(Buffer.alloc(0));
  }

  private take(last: Buffer): Buffer {
    if (this.parts.length === 0) return last;
    const line = Buffer.concat([...this.parts, last]);
    this.parts = [];
    this.size = 0;
    return line;
  }
}
