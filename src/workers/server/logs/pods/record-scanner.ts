// Takes a CRI log apart: "TIME STREAM TAGS TEXT\n" records out of chunks cut anywhere.
// Invariant: text is passed on as it comes, never collected, so that a line of any length costs no memory; a line
// that is no record is skipped as a whole and counted.

import { isGoTime } from "../../../../shared/base/text/go-time.js";

export const STDOUT = 1;
export const STDERR = 2;
export type LogStream = typeof STDOUT | typeof STDERR;

/** The head of a record. One object is used again for every record: read it in `begin`, do not keep it. */
export interface RecordHead {
  /** The time as it is written. */
  stamp: string;
  stream: LogStream;
  /** More of the same line follows in the stream's next record. */
  partial: boolean;
}

/** Is called for each record: begin, text any number of times, then end, unless the file stops in mid-record. */
export interface RecordSink {
  begin(head: RecordHead): void;
  text(bytes: Buffer, from: number, to: number): void;
  end(): void;
}

const LF = 0x0a;
const BLANK = 0x20;
const PARTIAL = 0x50;
const FULL = 0x46;
const COLON = 0x3a;
/** No head is longer: time, stream, tags and blanks. */
export const MAX_HEAD = 128;
const INCOMPLETE = -1;
const NO_RECORD = -2;

type State = "head" | "text" | "skip";

export class RecordScanner {
  /** Lines that are no records. */
  skipped = 0;
  private state: State = "head";
  /** The beginning of a head whose rest is in the next chunk. */
  private carried: Buffer = Buffer.alloc(0);
  private readonly head: RecordHead = emptyHead();

  constructor(private readonly sink: RecordSink) {}

  /** Scans all of the chunk; `stop` is called after each record. */
  push(chunk: Buffer, stop: () => boolean = () => false): void {
    let at = 0;
    while (at < chunk.length && !stop()) {
      if (this.state === "head") at = this.scanHead(chunk, at);
      else at = this.scanText(chunk, at);
    }
  }

  /** The file has ended: an incomplete record stays incomplete, and the next file begins with a new record. */
  endOfFile(): void {
    if (this.state === "skip" || this.carried.length > 0) this.skipped++;
    this.carried = Buffer.alloc(0);
    this.state = "head";
  }

  private scanHead(chunk: Buffer, at: number): number {
    const kept = this.carried.length;
    const bytes = kept === 0 ? chunk : Buffer.concat([this.carried, chunk.subarray(at, at + MAX_HEAD)]);
    const from = kept === 0 ? at : 0;
    const text = parseHead(bytes, from, this.head);
    if (text === INCOMPLETE) {
      this.carried = Buffer.from(kept === 0 ? chunk.subarray(at) : bytes);
      return chunk.length;
    }
    this.carried = Buffer.alloc(0);
    if (text === NO_RECORD) {
      this.state = "skip";
      // Nothing carried held a newline, so the line's end is still ahead.
      return at;
    }
    this.state = "text";
    this.sink.begin(this.head);
    return at + (text - from) - kept;
  }

  private scanText(chunk: Buffer, at: number): number {
    const newline = chunk.indexOf(LF, at);
    const end = newline < 0 ? chunk.length : newline;
    if (this.state === "text") {
      if (end > at) this.sink.text(chunk, at, end);
      if (newline >= 0) this.sink.end();
    } else if (newline >= 0) {
      this.skipped++;
    }
    if (newline < 0) return chunk.length;
    this.state = "head";
    return newline + 1;
  }
}

export function emptyHead(): RecordHead {
  return { stamp: "", stream: STDOUT, partial: false };
}

/** Fills `head` from the record at `from`; returns where its text begins, or a negative number. */
export function parseHead(bytes: Buffer, from: number, head: RecordHead): number {
  const end = Math.min(bytes.length, from + MAX_HEAD);
  const whole = end === from + MAX_HEAD;
  const short = whole ? NO_RECORD : INCOMPLETE;
  const timeEnd = blankIn(bytes, from, end);
  if (timeEnd < 0) return timeEnd === NO_RECORD ? NO_RECORD : short;
  const streamEnd = blankIn(bytes, timeEnd + 1, end);
  if (streamEnd < 0) return streamEnd === NO_RECORD ? NO_RECORD : short;
  const blank = blankIn(bytes, streamEnd + 1, end);
  // An empty text may come without the blank before it.
  const tagsEnd = blank === NO_RECORD ? bytes.indexOf(LF, streamEnd + 1) : blank;
  if (tagsEnd < 0) return short;

  // As upstream, a line with a time that does not exist (30 February) is no record.
  const stamp = bytes.toString("latin1", from, timeEnd);
  if (!isGoTime(stamp)) return NO_RECORD;
  const stream = streamOf(bytes, timeEnd + 1, streamEnd);
  const tag = bytes[streamEnd + 1];
  const afterTag = bytes[streamEnd + 2];
  const oneLetter = tagsEnd === streamEnd + 2 || afterTag === COLON;
  if (stream === undefined) return NO_RECORD;
  // Tags of later versions are full lines, as upstream reads them.
  if (blank === NO_RECORD && !(oneLetter && (tag === PARTIAL || tag === FULL))) return NO_RECORD;
  head.stamp = stamp;
  head.stream = stream;
  head.partial = oneLetter && tag === PARTIAL;
  return bytes[tagsEnd] === LF ? tagsEnd : tagsEnd + 1;
}

/** Index of the next blank; NO_RECORD if the line ends before it, INCOMPLETE if the bytes do. */
function blankIn(bytes: Uint8Array, from: number, end: number): number {
  for (let at = from; at < end; at++) {
    if (bytes[at] === BLANK) return at;
    if (bytes[at] === LF) return NO_RECORD;
  }
  return INCOMPLETE;
}

const OUT = Buffer.from("stdout");
const ERR = Buffer.from("stderr");

function streamOf(bytes: Uint8Array, from: number, to: number): LogStream | undefined {
  if (to - from !== OUT.length) return undefined;
  let out = true;
  let err = true;
  for (let at = 0; at < OUT.length; at++) {
    out &&= bytes[from + at] === OUT[at];
    err &&= bytes[from + at] === ERR[at];
  }
  if (out) return STDOUT;
  return err ? STDERR : undefined;
}
