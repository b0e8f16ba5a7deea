// Turns records into what `kubectl logs` prints: parts joined to lines, the wanted stream, since, time stamps, a limit.
// What must hold: memory stays at one output block whatever the length of a line; lines of two streams never mix: a line
// that the other stream breaks into is ended there, and its rest is a line of its own.
import { fixedStamp, LineTimes } from "./line-time.js";
import type { LogStream, RecordHead, RecordSink } from "./record-scanner.js";

export interface LineWriterOptions {
  /** Only this stream; undefined: both. */
  stream?: LogStream | undefined;
  /** Lines before this time, nanoseconds since the epoch, are left out. A line has the time of its first part. */
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
  private readonly times = new LineTimes();
  private readonly ready: Buffer[] = [];
  private block = Buffer.allocUnsafeSlow(BLOCK);
  private used = 0;
  private left: number;
  private writing = false;
  /** A line was begun that has no end yet. */
  private lineOpen = false;
  /** The last record seen of those wanted: whether the next one goes on with its line. */
  private lastStream: LogStream | undefined;
  private lastPartial = false;
  private lineWanted = false;

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
    const goesOn = this.lastPartial && this.lastStream === head.stream;
    this.lastStream = head.stream;
    this.lastPartial = head.partial;
    if (!goesOn) this.lineWanted = this.wanted(head);
    this.writing = this.lineWanted;
    if (!this.writing || goesOn) return;
    if (this.lineOpen) this.putByte(LF);
    this.lineOpen = true;
    if (timestamps === true) this.put(Buffer.from(`${fixedStamp(stampOf(head))} `, "latin1"));
  }

  text(bytes: Buffer, from: number, to: number): void {
    if (this.writing) this.put(bytes.subarray(from, to));
  }

  end(): void {
    if (!this.writing || this.lastPartial) return;
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

  private wanted(head: RecordHead): boolean {
    if (this.skipLines > 0) {
      this.skipLines--;
      return false;
    }
    const { sinceNanos } = this.options;
    if (sinceNanos === undefined) return true;
    const nanos = this.times.nanos(stampOf(head));
    return nanos === undefined || nanos >= sinceNanos;
  }

  private putByte(byte: number): void {
    if (this.left <= 0) return;
    if (this.used === BLOCK) this.closeBlock();
    this.block[this.used++] = byte;
    this.left--;
  }

  private put(bytes: Buffer): void {
    let from = 0;
    const to = Math.min(bytes.length, this.left);
    while (from < to) {
      if (this.used === BLOCK) this.closeBlock();
      const copied = bytes.copy(this.block, this.used, from, to);
      this.used += copied;
      from += copied;
    }
    this.left -= to;
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

function stampOf({ bytes, timeStart, timeEnd }: RecordHead): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + timeStart, timeEnd - timeStart).toString("latin1");
}
