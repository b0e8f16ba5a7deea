// The log of a container as `kubectl logs` shows it, from the current file and all rotated ones, compressed or not.
// With follow it continues while the log grows.
// Invariant: across rotations no line is lost and none comes twice; memory is flat for any size of the log, of
// a line or the slowness of the consumer; every file and watch is closed when the generator ends, however it ends. All
// readers of a thread together take a share of its event loop.

import type { Clock } from "../../../../shared/base/clock/clock.js";
import type { LoopShare } from "../../../../shared/base/turns/loop-share.js";
import { inUntrustedFolder } from "../../../../shared/io/fs/untrusted-folder.js";
import type { LogFileName } from "../../../../shared/node/container-logs/file-names.js";
import { ChunkMemory, chunksOf } from "./chunks.js";
import { isForeignLog, LogMissingError } from "./errors.js";
import { LineWriter } from "./line-writer.js";
import {
  closeLogFiles,
  currentInode,
  isSameFile,
  logRun,
  modifiedSince,
  openLogFiles,
  type LogRun,
  type OpenLogFile,
} from "./log-files.js";
import { LogScanner } from "./log-scanner.js";
import { LogWatch } from "./log-watch.js";
import { checkLogOptions, type CheckedLogOptions, type PodLogOptions } from "./options.js";
import { findTail, lastLineOf } from "./tail.js";

export interface ReadLogsOptions extends PodLogOptions {
  /** PODLOGSDIR/NAMESPACE_NAME_UID. */
  podLogDirectory: string;
  container: string;
  /** Restart count of the newest run; `previous` reads the one before. */
  restartCount: number;
  /** Ids of the container's runs, without the runtime's name: whose file of Docker the log may be a link to. */
  containerIds?: readonly string[] | undefined;
  clock: Clock;
  signal?: AbortSignal | undefined;
  /** For `follow`: the reading ends when the container no longer runs and its log was read to the end. */
  isRunning?: () => boolean | Promise<boolean>;
  /**
   * For `follow`: whether an inotify instance may be used; default true. Without one, new lines come within a second.
   */
  inotify?: boolean;
  /** Each piece of a log is scanned in its turn. Absent: the thread has nothing else to do. */
  loop?: Pick<LoopShare, "turn">;
  /** A broken compressed file is read as far as possible; this is called with the reason, once per file. */
  onProblem?: (file: string, error: Error) => void;
  /** The files are open, before the first of them is read. */
  onOpen?: () => void;
}

/** Polling interval of a follower without events. */
const POLL_MS = 1000;
/** While a file is about to be left, its last bytes are waited for in shorter steps. */
const SETTLE_POLL_MS = 100;
/** A file without an announced end counts as complete after this time without a write. */
const ROTATED_UNCHANGED_MS = 2000;
const EXITED_UNCHANGED_MS = 300;
/** Bytes of a turn: a millisecond or two. */
const PIECE_BYTES = 32 * 1024;

/**
 * Yields the output in blocks. One reader, one consumer; the next bytes are read when the next block is requested.
 * Rejects with LogOptionsError, LogMissingError, OperatorError, LogFormatError, LogStreamError, the signal's reason, or
 * a system error.
 */
export async function* readContainerLogs(options: ReadLogsOptions): AsyncGenerator<Uint8Array> {
  const checked = checkLogOptions(options, options.clock.nowNanos());
  const restartCount = options.restartCount - (checked.previous ? 1 : 0);
  const run = logRun(options.podLogDirectory, options.container, restartCount, options.containerIds);
  const reader = new LogReader(run, checked, options);
  try {
    if (restartCount < 0 || !(await reader.open())) {
      throw new LogMissingError(options.container, run.directory, checked.previous);
    }
    options.onOpen?.();
    yield* reader.read();
  } finally {
    await reader.close();
  }
}

class LogReader {
  private queue: OpenLogFile[] = [];
  private readonly writer: LineWriter;
  private readonly scanner: LogScanner;
  private readonly signal: AbortSignal;
  private readonly clock: Clock;
  private watch: LogWatch | undefined;
  /** Rotated files that are not newer than the one being read. */
  private known = new Set<string>();
  /** Plain files are read through it. */
  private readonly memory = new ChunkMemory();

  constructor(
    private readonly run: LogRun,
    private readonly checked: CheckedLogOptions,
    private readonly options: ReadLogsOptions,
  ) {
    this.writer = new LineWriter(checked);
    this.scanner = new LogScanner(this.writer, { sinceNanos: checked.sinceNanos });
    this.signal = options.signal ?? new AbortController().signal;
    this.clock = options.clock;
  }

  /** False when the run has no files. */
  async open(): Promise<boolean> {
    this.signal.throwIfAborted();
    const { sinceNanos } = this.checked;
    this.queue = await openLogFiles(this.run, (names) => {
      this.rememberNames(names);
      return sinceNanos === undefined ? names : modifiedSince(this.run, names, sinceNanos);
    });
    return this.queue.length > 0;
  }

  async *read(): AsyncGenerator<Buffer> {
    try {
      yield* this.readFiles();
    } catch (error) {
      // What came before the foreign line is output.
      if (isForeignLog(error)) yield* this.writer.takeAll();
      throw error;
    }
  }

  private async *readFiles(): AsyncGenerator<Buffer> {
    let start = await this.skipToTail();
    for (let file = this.queue[0]; file !== undefined; file = this.queue[0]) {
      if (this.checked.follow) yield* this.followFile(file, start);
      else yield* this.readToEnd(file, start, file.size);
      yield* this.writer.takeAll();
      if (this.isFull()) return;
      // A compressed file that is damaged ends anywhere.
      this.scanner.endOfFile(!this.checked.follow && !file.name.compressed);
      yield* this.writer.takeAll();
      if (this.isFull()) return;
      this.queue.shift();
      await file.handle.close();
      start = 0;
    }
  }

  private isFull(): boolean {
    return this.writer.full;
  }

  async close(): Promise<void> {
    this.watch?.[Symbol.dispose]();
    await closeLogFiles(this.queue.splice(0));
  }

  /** Drops everything before the requested last lines; returns the start in the first remaining file. */
  private async skipToTail(): Promise<number> {
    const { tailLines } = this.checked;
    if (tailLines === undefined) return 0;
    const last = this.queue.length - 1;
    const start =
      tailLines === 0
        ? { index: last, offset: await lastLineOf(this.queue[last], this.signal), skipLines: Infinity }
        : await findTail(this.queue, tailLines, this.signal, this.options.loop);
    if (start === undefined) return 0;
    await closeLogFiles(this.queue.splice(0, start.index));
    // Past the end of a plain file everything is new; a compressed one has nothing after its end.
    const plain = this.queue[0]?.name.compressed === false;
    this.writer.skipLines = tailLines === 0 && plain ? 0 : start.skipLines;
    return start.offset;
  }

  /** Reads from `start`; returns where it stopped. */
  private async *readToEnd(file: OpenLogFile, start: number, end: number | undefined): AsyncGenerator<Buffer, number> {
    let at = start;
    try {
      for await (const chunk of chunksOf(file, this.signal, { start, end }, this.memory)) {
        for (let from = 0; from < chunk.length && !this.writer.full; from += PIECE_BYTES) {
          await this.options.loop?.turn();
          const piece = chunk.subarray(from, from + PIECE_BYTES);
          this.scanner.push(piece, () => this.writer.full);
          at += piece.length;
          yield* this.writer.takeFull();
        }
        if (this.writer.full) break;
      }
    } catch (error) {
      this.signal.throwIfAborted();
      if (!file.name.compressed || isForeignLog(error) || !(error instanceof Error)) throw error;
      this.options.onProblem?.(file.name.name, error);
    }
    return at;
  }

  /** Reads the file to its end; files that follow it are in the queue by then. */
  private async *followFile(file: OpenLogFile, start: number): AsyncGenerator<Buffer> {
    if (file.name.compressed) {
      yield* this.readToEnd(file, 0, undefined);
      if (this.writer.skipLines === Infinity) this.writer.skipLines = 0;
      if (this.queue.length === 1) await this.findSuccessors(file);
      return;
    }
    this.watch ??= await inUntrustedFolder(this.run.directory, (path) =>
      Promise.resolve(new LogWatch(this.clock, path, this.options.inotify)),
    );
    this.watch.follow(file.handle.fd);
    let at = start;
    for (let ending = false; ;) {
      const closed = this.watch.closed;
      const before = at;
      at = yield* this.readToEnd(file, at, undefined);
      yield* this.writer.takeAll();
      if (this.writer.full) return;
      const woke = ending || closed ? "changed" : await this.watch.wait(POLL_MS, this.signal, at > before);
      if (woke === "grew") continue;
      const movedOn = this.queue.length > 1 || (await this.isRotated(file));
      const over = !movedOn && !(await this.isRunning());
      // After the check of the container: its output until its end counts.
      const { size, mtimeMs } = await file.handle.stat();
      if (size < at) {
        // Another process truncated the file: new lines start at offset 0.
        this.scanner.endOfFile(false);
        at = 0;
      }
      ending = movedOn || over;
      if (!ending) {
        if (closed) this.watch.closed = false; // not the last writer
        continue;
      }
      const unchangedMs = movedOn ? ROTATED_UNCHANGED_MS : EXITED_UNCHANGED_MS;
      const whole = size === at && (closed || Math.abs(this.clock.now() - mtimeMs) >= unchangedMs);
      if (whole && movedOn) await this.findSuccessors(file);
      if (whole) return;
      await this.watch.wait(SETTLE_POLL_MS, this.signal);
    }
  }

  /**
   * Another file has taken the name. Between the rename and the runtime's new file there is none: the result is false.
   */
  private async isRotated(file: OpenLogFile): Promise<boolean> {
    const inode = await currentInode(this.run);
    return inode !== undefined && inode !== file.ino;
  }

  /** Queues the files that came after this one, unless there are some in the queue already. */
  private async findSuccessors(file: OpenLogFile): Promise<void> {
    if (this.queue.length > 1) return;
    let seen: LogFileName[] = [];
    const next = await openLogFiles(this.run, async (names) => {
      seen = names;
      const fresh = names.filter(({ stem }) => stem === undefined || !this.known.has(stem));
      for (let index = fresh.length - 1; index >= 0; index--) {
        const name = fresh[index];
        if (name?.stem !== undefined && (await isSameFile(this.run, name, file))) return fresh.slice(index + 1);
      }
      return fresh;
    });
    this.rememberNames(seen);
    this.queue.push(...next);
  }

  private rememberNames(names: readonly LogFileName[]): void {
    this.known = new Set(names.flatMap(({ stem }) => (stem === undefined ? [] : [stem])));
  }

  private async isRunning(): Promise<boolean> {
    return this.options.isRunning === undefined || (await this.options.isRunning());
  }
}
