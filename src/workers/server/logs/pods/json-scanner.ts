// Takes a log of the Docker Engine apart: lines of JSON out of chunks cut anywhere, passed on as the records of a CRI
// log.
// Invariant: at most one line is collected, and none beyond the limit; a line that is no record is skipped as a whole
// and counted.

import { goText } from "../../../../shared/base/text/go-text.js";
import {
  LONGEST_JSON_LINE,
  parseJsonRecord,
  type JsonRecord,
} from "../../../../shared/node/container-logs/json-record.js";
import { LogStreamError } from "./errors.js";
import { stampNanos } from "./line-time.js";
import { emptyHead, STDERR, STDOUT, type LogStream, type RecordHead, type RecordSink } from "./record-scanner.js";

const LF = 0x0a;

export class JsonScanner {
  skipped = 0;
  /** The beginning of a line whose end is in a later chunk. */
  private parts: Buffer[] = [];
  private length = 0;
  /** The record of the next line, which the caller has decoded. */
  private decoded: JsonRecord | undefined;
  private readonly head: RecordHead = emptyHead();

  constructor(
    private readonly sink: RecordSink,
    private readonly sinceNanos: bigint | undefined,
  ) {}

  /** The line that comes next is this record: it is not decoded again. */
  expect(record: JsonRecord): void {
    this.decoded = record;
  }

  /** Scans all of the chunk; `stop` is called after each record. @throws LogStreamError */
  push(chunk: Buffer, stop: () => boolean = () => false): void {
    for (let at = 0; at < chunk.length && !stop();) {
      const newline = chunk.indexOf(LF, at);
      const end = newline < 0 ? chunk.length : newline;
      this.collect(chunk.subarray(at, end), newline < 0);
      if (newline < 0) return;
      this.take();
      at = newline + 1;
    }
  }

  /** The file has ended: a last line without a newline counts if it is whole. */
  endOfFile(): void {
    if (this.length > 0) this.take();
    this.decoded = undefined;
  }

  /** @param kept the chunk's memory is used again before the line ends */
  private collect(bytes: Buffer, kept: boolean): void {
    this.length += bytes.length;
    if (this.length > LONGEST_JSON_LINE) this.parts = [];
    else this.parts.push(kept ? Buffer.from(bytes) : bytes);
  }

  private take(): void {
    const { parts, length, decoded } = this;
    this.parts = [];
    this.length = 0;
    this.decoded = undefined;
    const record = length > LONGEST_JSON_LINE ? undefined : (decoded ?? parseJsonRecord(goText(joined(parts))));
    if (record === undefined) this.skipped++;
    else this.pass(record);
  }

  private pass({ text, stream, time }: JsonRecord): void {
    const known = streamOf(stream);
    if (known === undefined) {
      if (this.isOld(time)) return;
      throw new LogStreamError(stream);
    }
    // It neither begins nor ends a line.
    if (text === "") return;
    const bytes = Buffer.from(text, "utf8");
    const ends = text.endsWith("\n");
    this.head.stamp = time;
    this.head.stream = known;
    this.head.partial = !ends;
    this.sink.begin(this.head);
    this.sink.text(bytes, 0, bytes.length - (ends ? 1 : 0));
    this.sink.end();
  }

  private isOld(time: string): boolean {
    return this.sinceNanos !== undefined && (stampNanos(time) ?? 0n) < this.sinceNanos;
  }
}

export function streamOf(name: string): LogStream | undefined {
  if (name === "stdout") return STDOUT;
  return name === "stderr" ? STDERR : undefined;
}

function joined(parts: readonly Buffer[]): Buffer {
  const [first] = parts;
  return first !== undefined && parts.length === 1 ? first : Buffer.concat(parts);
}
