// Scans a container's log in the format of its first line: CRI's, or the Docker Engine's JSON.
// Invariant: each file is scanned in one format. A file that begins with a line of neither has the format of the file before it; the first
// file must have one.
import { LONGEST_JSON_LINE, parseJsonRecord } from "../../../shared/container-logs/json-record.js";
import { goText } from "../../../shared/text/go-text.js";
import { LogFormatError } from "./errors.js";
import { JsonScanner } from "./json-scanner.js";
import { LineTimes } from "./line-time.js";
import { emptyHead, parseHead, RecordScanner, stampOf, type RecordSink } from "./record-scanner.js";

export type LogFormat = "cri" | "json";

export interface LogScannerOptions {
  /** A line with an unknown stream from before this time is passed over, as any other. */
  sinceNanos?: bigint | undefined;
  /** The format if the first line has none; default: LogFormatError. */
  otherwise?: LogFormat;
}

const LF = 0x0a;

export class LogScanner {
  private format: LogFormat | undefined;
  /** The scanner of the present file, from its first line on. */
  private current: RecordScanner | JsonScanner | undefined;
  /** The beginning of a file whose first line is not whole yet. */
  private parts: Buffer[] = [];
  private length = 0;
  private readonly records: RecordScanner;
  private readonly json: JsonScanner;

  constructor(sink: RecordSink, options: LogScannerOptions = {}) {
    this.format = options.otherwise;
    this.records = new RecordScanner(sink);
    this.json = new JsonScanner(sink, options.sinceNanos);
  }

  /** Scans all of the chunk; `stop` is called after each record. @throws LogFormatError, LogStreamError */
  push(chunk: Buffer, stop?: () => boolean): void {
    if (this.current !== undefined) {
      this.current.push(chunk, stop);
      return;
    }
    const bytes = this.length === 0 ? chunk : Buffer.concat([...this.parts, chunk]);
    const found = formatOf(bytes);
    if (found === undefined && bytes.length <= LONGEST_JSON_LINE) {
      this.parts.push(Buffer.from(chunk));
      this.length = bytes.length;
      return;
    }
    this.begin(found ?? "none", bytes);
    this.forget();
    this.scanner().push(bytes, stop);
  }

  /** @param whole nothing will be added to the file: a first line that is cut off counts as it is. @throws LogFormatError */
  endOfFile(whole: boolean): void {
    if (this.length > 0 && whole) {
      const bytes = Buffer.concat(this.parts);
      this.begin(formatOf(bytes, true) ?? "none", bytes);
      this.scanner().push(bytes);
    }
    this.forget();
    this.current?.endOfFile();
    this.current = undefined;
  }

  private begin(found: LogFormat | "none", bytes: Buffer): void {
    if (found !== "none") this.format = found;
    if (this.format === undefined) throw new LogFormatError(firstLine(bytes));
    this.current = this.scanner();
  }

  private scanner(): RecordScanner | JsonScanner {
    return this.format === "json" ? this.json : this.records;
  }

  private forget(): void {
    this.parts = [];
    this.length = 0;
  }
}

/** The format of a file by its first bytes; undefined: more of the first line is needed. */
function formatOf(bytes: Buffer, isWhole = false): LogFormat | "none" | undefined {
  const newline = bytes.indexOf(LF);
  const isLine = newline >= 0 || isWhole;
  const head = emptyHead();
  if (parseHead(bytes, 0, head) >= 0) return isTime(stampOf(head)) ? "cri" : "none";
  if (!isLine) return undefined;
  const line = newline < 0 ? bytes : bytes.subarray(0, newline);
  if (line.length > LONGEST_JSON_LINE) return "none";
  return parseJsonRecord(goText(line)) === undefined ? "none" : "json";
}

function isTime(stamp: string): boolean {
  return new LineTimes().nanos(stamp) !== undefined;
}

function firstLine(bytes: Buffer): Buffer {
  const newline = bytes.indexOf(LF);
  return newline < 0 ? bytes : bytes.subarray(0, newline + 1);
}
