// Scans a container's log in the format of its first line: CRI's, or the Docker Engine's JSON.
// Invariant: each file is scanned in one format. A file that begins with a line of neither has the format of the file
// before it; the first file must have one.

import { goText } from "../../../../shared/base/text/go-text.js";
import {
  LONGEST_JSON_LINE,
  parseJsonRecord,
  type JsonRecord,
} from "../../../../shared/node/container-logs/json-record.js";
import { LogFormatError } from "./errors.js";
import { JsonScanner } from "./json-scanner.js";
import { emptyHead, MAX_HEAD, parseHead, RecordScanner, type RecordSink } from "./record-scanner.js";

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
  /** The first bytes of it, as many as a head of CRI's format may have. */
  private start = Buffer.alloc(0);
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
    const found = this.formatWith(chunk);
    if (found === undefined) {
      this.parts.push(Buffer.from(chunk));
      this.length += chunk.length;
      return;
    }
    const bytes = this.length === 0 ? chunk : Buffer.concat([...this.parts, chunk]);
    this.forget();
    this.chooseFormat(found, bytes).push(bytes, stop);
  }

  /**
   * @param whole nothing will be added to the file: a first line that is cut off counts as it is.
   * @throws LogFormatError
   */
  endOfFile(whole: boolean): void {
    if (this.length > 0 && whole) {
      const bytes = Buffer.concat(this.parts);
      this.chooseFormat(formatOfLine(bytes), bytes).push(bytes);
    }
    this.forget();
    this.current?.endOfFile();
    this.current = undefined;
  }

  /** undefined: more of the first line is needed. Reads the chunk alone, and the first bytes of the file. */
  private formatWith(chunk: Buffer): FirstLine | undefined {
    if (this.start.length < MAX_HEAD)
      this.start = Buffer.concat([this.start, chunk.subarray(0, MAX_HEAD - this.start.length)]);
    const head = emptyHead();
    if (parseHead(this.start, 0, head) >= 0) return "cri";
    const newline = chunk.indexOf(LF);
    if (newline >= 0) return formatOfLine(Buffer.concat([...this.parts, chunk.subarray(0, newline)]));
    return this.length + chunk.length > LONGEST_JSON_LINE ? "none" : undefined;
  }

  private chooseFormat(found: FirstLine, bytes: Buffer): RecordScanner | JsonScanner {
    if (found === "cri") this.format = "cri";
    else if (found !== "none") this.format = "json";
    if (this.format === undefined) throw new LogFormatError(firstLine(bytes));
    this.current = this.format === "json" ? this.json : this.records;
    if (typeof found === "object") this.json.expect(found);
    return this.current;
  }

  private forget(): void {
    this.parts = [];
    this.length = 0;
    this.start = Buffer.alloc(0);
  }
}

/** The format of a first line; of JSON its record. */
type FirstLine = "cri" | "none" | JsonRecord;

/** @param line without its newline, and without a head of CRI's format */
function formatOfLine(line: Buffer): FirstLine {
  return line.length > LONGEST_JSON_LINE ? "none" : (parseJsonRecord(goText(line)) ?? "none");
}

function firstLine(bytes: Buffer): Buffer {
  const newline = bytes.indexOf(LF);
  return newline < 0 ? bytes : bytes.subarray(0, newline + 1);
}
