// Turns records into what `kubectl logs` prints: parts joined to lines, the wanted stream, since, time stamps, a limit.
// Invariant: memory stays at one output block for lines of any length. Lines of two streams never mix. Output of the
// other stream ends an unfinished line, and the rest becomes another line.

import { fixedStamp, stampNanos } from "./line-time.js";
import type { LogStream, RecordHead, RecordSink } from "./record-scanner.js";

export interface LineWriterOptions {
  /** Only this stream; undefined: both. */
  stream?: LogStream | undefined;
  /**
   * Parts from before this time, nanoseconds since the epoch, are left out: so files that are older need no reading.
   */
  sinceNanos?: bigint | undefined;
  timestamps?: boolean | undefined;
  /** Stop after so many bytes of output. */
  limitBytes?: number | undefined;
}

const LF = 0x0a;
const BLOCK = 64 * 1024;

export class LineWriter implements RecordSink {
  /** Lines to pass over before anything is written. */
  skipLines = 0;
  private readonly ready: Buffer[] = [];
  private block = Buffer.allocUnsafeSlow(BLOCK);
  private used = 0;
  private left: number;
  private writing = false;
  /** A line was begun that has no end yet. */
  private lineOpen = false;
  /** The line that the last record of the wanted streams belongs to, and the last one that was shown. */
  private readonly seen = new LineEnd();
  private readonly shown = new LineEnd();
  private passedOver = false;

  constructor(private readonly options: LineWriterOptions = {}) {
    this.left = options.limitBytes ?? Infinity;
  }

  /** The limit is reached: nothing more will come. */
  get full(): boolean {
    return this.left <= 0;
  }

  begin(head: RecordHead): void {
    const { stream, timestamps } = this.options;
    this.writing = false;
    if (stream !== undefined && head.stream !== stream) return;
    if (!this.seen.goesOnWith(head)) {
      this.passedOver = this.skipLines > 0;
      if (this.passedOver) this.skipLines--;
    }
    this.seen.set(head);
    if (this.passedOver || !this.recent(head)) return;
    this.writing = true;
    const goesOn = this.shown.goesOnWith(head);
    this.shown.set(head);
    if (goesOn) return;
    if (this.lineOpen) this.putByte(LF);
    this.lineOpen = true;
    if (timestamps === true) this.put(Buffer.from(`${fixedStamp(head.stamp)} `, "latin1"));
  }

  text(bytes: Buffer, from: number, to: number): void {
    if (this.writing) this.put(bytes, from, to);
  }

  end(): void {
    if (!this.writing || this.shown.partial) return;
    this.putByte(LF);
    this.lineOpen = false;
  }

  /** Blocks that are full. */
  *takeFull(): Generator<Buffer> {
    for (let block = this.ready.shift(); block !== undefined; block = this.ready.shift()) yield block;
  }

  /** Everything written so far. */
  *takeAll(): Generator<Buffer> {
    this.closeBlock();
    yield* this.takeFull();
  }

  private recent(head: RecordHead): boolean {
    const { sinceNanos } = this.options;
    if (sinceNanos === undefined) return true;
    const nanos = stampNanos(head.stamp);
    return nanos === undefined || nanos >= sinceNanos;
  }

  private putByte(byte: number): void {
    if (this.left <= 0) return;
    if (this.used === BLOCK) this.closeBlock();
    this.block[this.used++] = byte;
    this.left--;
  }

  private put(bytes: Buffer, begin = 0, end = bytes.length): void {
    let from = begin;
    const to = Math.min(end, begin + this.left);
    while (from < to) {
      if (this.used === BLOCK) this.closeBlock();
      const copied = bytes.copy(this.block, this.used, from, to);
      this.used += copied;
      from += copied;
    }
    this.left -= to - begin;
  }

  private closeBlock(): void {
    if (this.used === 0) return;
    const written = this.block.subarray(0, this.used);
    if (this.used < BLOCK / 2) this.ready.push(Buffer.from(written));
    else {
      this.ready.push(written);
      this.block = Buffer.allocUnsafeSlow(BLOCK);
    }
    this.used = 0;
  }
}

/** State of the current line: tells whether the next record belongs to it. */
class LineEnd {
  partial = false;
  private stream: LogStream | undefined;

  set({ stream, partial }: RecordHead): void {
    this.stream = stream;
    this.partial = partial;
  }

  goesOnWith({ stream }: RecordHead): boolean {
    return this.partial && this.stream === stream;
  }
}
