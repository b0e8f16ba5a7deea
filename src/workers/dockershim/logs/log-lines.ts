// docker's log records ("<time> <text>", one per frame) → lines of CRI's log format ("<time> stdout F <text>").
// Source of the format: https://github.com/kubernetes/design-proposals-archive/blob/main/node/kubelet-cri-logging.md
// Invariant: every written line ends in a line feed; a record without one was cut by docker at 16 KiB and is marked P.

import { FrameReader, type StreamName } from "./frames.js";

const LINE_FEED = 0x0a;
const SPACE = 0x20;
/** docker cuts records at 16 KiB; a longer one is written in parts. */
const MAX_RECORD = 64 * 1024;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z$/;

export interface LogLinesOptions {
  /** The container has a terminal: no frames. */
  tty: boolean;
  /** Records up to this time are written already: "2026-01-02T03:04:05.000000006Z"; "" for none. */
  after: string;
}

export class LogLines {
  private readonly reader: FrameReader;
  private readonly pending: Record<StreamName, Buffer> = { stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) };
  private out: Buffer[] = [];
  private lastTime: string;

  constructor(private readonly options: LogLinesOptions) {
    this.lastTime = options.after;
    this.reader = new FrameReader({ onData: (stream, part, last) => this.add(stream, part, last) });
  }

  /** The time of the last record that was written. */
  get last(): string {
    return this.lastTime;
  }

  /** The lines that this chunk completes. */
  push(chunk: Buffer): Buffer {
    if (this.options.tty) this.addTerminal(chunk);
    else this.reader.push(chunk);
    const lines = Buffer.concat(this.out);
    this.out = [];
    return lines;
  }

  private addTerminal(chunk: Buffer): void {
    let rest = chunk;
    for (let end = rest.indexOf(LINE_FEED); end >= 0; end = rest.indexOf(LINE_FEED)) {
      this.add("stdout", rest.subarray(0, end + 1), true);
      rest = rest.subarray(end + 1);
    }
    if (rest.length > 0) this.add("stdout", rest, false);
  }

  private add(stream: StreamName, part: Buffer, last: boolean): void {
    const record = this.pending[stream].length === 0 ? part : Buffer.concat([this.pending[stream], part]);
    if (last || record.length > MAX_RECORD) {
      this.pending[stream] = Buffer.alloc(0);
      this.write(stream, record);
    } else this.pending[stream] = Buffer.from(record);
  }

  private write(stream: StreamName, record: Buffer): void {
    const space = record.indexOf(SPACE);
    const time = record.toString("latin1", 0, Math.max(space, 0));
    const isRecord = TIME.test(time);
    // The rest of a record that was longer than any of docker's continues the one before.
    const text = isRecord ? record.subarray(space + 1) : record;
    if (isRecord) {
      if (time <= this.options.after) return;
      this.lastTime = time;
    } else if (this.lastTime === "") return;
    const whole = text.at(-1) === LINE_FEED;
    this.out.push(Buffer.from(`${this.lastTime} ${stream} ${whole ? "F" : "P"} `, "latin1"), text);
    if (!whole) this.out.push(Buffer.of(LINE_FEED));
  }
}

/** The time of the last whole line in the end of a log file; "" if there is none. */
export function lastTimeIn(tail: string): string {
  const lines = tail.split("\n");
  for (let at = lines.length - 2; at >= 0; at--) {
    const time = (lines[at] ?? "").split(" ", 1)[0] ?? "";
    if (TIME.test(time)) return time;
  }
  return "";
}
