// Start of the last N lines. Plain files are read backwards and only as far as needed; compressed ones, which can be
// read forwards only, are counted from the start.
// Invariant: a line begins exactly where LineWriter begins one. That is a record whose predecessor was complete or of
// the other stream. Records that are none are passed over, as there.

import { goText } from "../../../../shared/base/text/go-text.js";
import type { LoopShare } from "../../../../shared/base/turns/loop-share.js";
import { LONGEST_JSON_LINE, parseJsonRecord } from "../../../../shared/node/container-logs/json-record.js";
import { chunksOf } from "./chunks.js";
import { streamOf } from "./json-scanner.js";
import { linesBackwards, readFully } from "./lines-backwards.js";
import type { OpenLogFile } from "./log-files.js";
import { LogScanner } from "./log-scanner.js";
import { emptyHead, MAX_HEAD, parseHead, STDOUT, type LogStream, type RecordHead } from "./record-scanner.js";

/** Begin with `files[index]` at `offset` (plain) and pass over `skipLines` lines. */
export interface TailStart {
  index: number;
  offset: number;
  skipLines: number;
}

interface Seen {
  stream: LogStream;
  partial: boolean;
}

/** Start of a record that the walk has passed. */
interface Place extends Seen {
  index: number;
  offset: number;
  skipLines: number;
}

/**
 * `files` oldest first; `endOfLast` bounds the last one, which may be growing. `lines` of 0 is the end itself. A client
 * may ask for more lines than there are: each piece of the files is searched in a turn of `turns`.
 */
export async function findTail(
  files: readonly OpenLogFile[],
  lines: number,
  signal: AbortSignal,
  turns?: Pick<LoopShare, "turn">,
): Promise<TailStart | undefined> {
  const walk = new TailWalk(lines, turns);
  for (let index = files.length - 1; index >= 0; index--) {
    const file = files[index];
    if (file === undefined) continue;
    if (file.name.compressed) await walk.countForwards(file, index, signal);
    else if (await looksLikeJson(file)) await walk.readJsonBackwards(file, index, signal);
    else await walk.readBackwards(file, index, signal);
    if (walk.start !== undefined) return walk.start;
  }
  return undefined; // fewer lines than that: everything
}

/**
 * Where the last line begins: the one that is being written, or else the end. A line beyond the limit is passed over.
 */
export async function lastLineOf(file: OpenLogFile | undefined, signal: AbortSignal): Promise<number> {
  if (file === undefined || file.name.compressed) return file?.size ?? 0;
  const nearest = Math.max(0, file.size - LONGEST_JSON_LINE);
  const lines = linesBackwards(file, LONGEST_JSON_LINE, signal, nearest);
  const last = await lines.next();
  await lines.return(undefined);
  return last.done === true ? file.size : last.value.offset;
}

/**
 * Whether the first record is of the Docker Engine's format, if there is a record at all. The reading itself decides by
 * the whole line.
 */
async function looksLikeJson(file: OpenLogFile): Promise<boolean> {
  const start = await readFully(file, Buffer.allocUnsafe(MAX_HEAD), 0);
  return parseHead(start, 0, emptyHead()) < 0 && start.toString("latin1").trimStart().startsWith("{");
}

/** Searched in one turn: a millisecond or two. */
const CHUNK = 64 * 1024;
const LF = 0x0a;
/** Lines of the Docker Engine's format that are parsed in one turn. */
const JSON_LINES = 64;

class TailWalk {
  start: TailStart | undefined;
  private found = 0;
  /** The record after the present one. */
  private next: Place | undefined;
  private readonly head: RecordHead = emptyHead();

  constructor(
    private readonly lines: number,
    private readonly turns: Pick<LoopShare, "turn"> | undefined,
  ) {}

  async readBackwards(file: OpenLogFile, index: number, signal: AbortSignal): Promise<void> {
    const buffer = Buffer.allocUnsafeSlow(CHUNK + MAX_HEAD);
    let end = file.size;
    while (end > 0 && !this.done()) {
      signal.throwIfAborted();
      const begin = Math.max(0, end - CHUNK);
      // Heads that begin in this chunk may end in the next one.
      const wanted = Math.min(file.size, end + MAX_HEAD) - begin;
      const chunk = await readFully(file, buffer.subarray(0, wanted), begin);
      await this.turns?.turn();
      // A record begins after each newline, and at the file's first byte.
      let at = Math.min(end - begin, chunk.length) - 1;
      while (at >= 0 && !this.done()) {
        const newline = chunk.lastIndexOf(LF, at);
        if (newline < 0) break;
        this.onRecordAt(chunk, newline + 1, begin, index);
        at = newline - 1;
      }
      if (begin === 0 && !this.done()) this.onRecordAt(chunk, 0, 0, index);
      end = begin;
    }
  }

  async readJsonBackwards(file: OpenLogFile, index: number, signal: AbortSignal): Promise<void> {
    let parsed = 0;
    for await (const { line, offset } of linesBackwards(file, LONGEST_JSON_LINE, signal)) {
      if (parsed++ % JSON_LINES === 0) await this.turns?.turn();
      const record = parseJsonRecord(goText(line));
      if (record === undefined) continue;
      const known = streamOf(record.stream);
      if (known !== undefined && record.text === "") continue;
      // A record of an unknown stream is a line, too: the reading ends there.
      const stream = known ?? STDOUT;
      this.pass({ stream, partial: !record.text.endsWith("\n"), index, offset, skipLines: 0 });
      if (this.done()) return;
    }
  }

  /**
   * Two passes in constant memory: the first counts the lines, the second, with `skipLines`, returns the wanted ones.
   */
  async countForwards(file: OpenLogFile, index: number, signal: AbortSignal): Promise<void> {
    let starts = 0;
    const ends: { first?: Seen; last?: Seen } = {};
    const sink = {
      begin: ({ stream, partial }: RecordHead) => {
        if (ends.last !== undefined && begins(ends.last, stream)) starts++;
        ends.first ??= { stream, partial };
        ends.last = { stream, partial };
      },
      text: () => undefined,
      end: () => undefined,
    };
    const scanner = new LogScanner(sink, { otherwise: "cri", sinceNanos: undefined });
    try {
      for await (const chunk of chunksOf(file, signal)) {
        for (let from = 0; from < chunk.length; from += CHUNK) {
          await this.turns?.turn();
          scanner.push(chunk.subarray(from, from + CHUNK));
        }
      }
    } catch (error) {
      // A file that is broken somewhere counts as far as it can be read; the reading itself reports it.
      signal.throwIfAborted();
      if (!(error instanceof Error)) throw error;
    }
    const { first, last } = ends;
    if (first === undefined || last === undefined) return;
    this.onRecord(last);
    if (this.start !== undefined) return;
    const missing = this.lines - this.found;
    if (missing <= starts && missing > 0) {
      // The first record's line is skipped too, whether it is whole or continues a line of the previous file.
      this.start = { index, offset: 0, skipLines: starts - missing + 1 };
      return;
    }
    this.found += starts;
    this.next = { ...first, index, offset: 0, skipLines: 0 };
  }

  private done(): boolean {
    return this.start !== undefined;
  }

  private onRecordAt(chunk: Buffer, at: number, begin: number, index: number): void {
    if (parseHead(chunk, at, this.head) < 0) return;
    const { stream, partial } = this.head;
    this.pass({ stream, partial, index, offset: begin + at, skipLines: 0 });
  }

  private pass(place: Place): void {
    this.onRecord(place);
    this.next = place;
  }

  /** The record before `next`: it decides whether `next` begins a line. */
  private onRecord(record: Seen): void {
    if (this.lines === 0 || this.start !== undefined) return;
    if (this.next === undefined || !begins(record, this.next.stream)) return;
    this.found++;
    const { index, offset, skipLines } = this.next;
    if (this.found === this.lines) this.start = { index, offset, skipLines };
  }
}

function begins(before: Seen, stream: LogStream): boolean {
  return !before.partial || before.stream !== stream;
}
