// The log file of one container. Follows docker's records from the last one in the file until the whole output of the
// exited container is written. docker's stream is read only as fast as the file takes it.
// Invariant: a record is written once, however often the thread, docker or the container restarts; after a rotation new
// lines go to the new file.

import { mkdir, type FileHandle } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Clock } from "../../../shared/base/clock/clock.js";
import { messageOf } from "../../../shared/base/errors/thrown.js";
import { KeyedSerializer } from "../../../shared/base/turns/keyed-serializer.js";
import { appendUntrusted, readTail, tailOf } from "../../../shared/io/fs/untrusted-file.js";
import { inUntrustedFolder, namesOf } from "../../../shared/io/fs/untrusted-folder.js";
import { logFileNames } from "../../../shared/node/container-logs/file-names.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import { request, type Engine } from "../engine/engine.js";
import { engineSince, nanosOf } from "../engine/times.js";
import { isNotFound } from "../fault.js";
import { lastTimeIn, LogLines } from "./log-lines.js";

export interface ContainerLogDeps {
  engine: Engine;
  clock: Clock;
  log: Logger;
}

export interface LoggedContainer {
  id: string;
  path: string;
  tty: boolean;
  /** It may have written before this thread started. */
  adopted: boolean;
}

type LogStream = AsyncIterable<Buffer> & { destroy(): unknown };

/** Delay before the next request to the Engine. */
const RETRY_MS = 1000;
const TAIL_BYTES = 128 * 1024;
const LINE_FEED = 0x0a;
/** Its group may read it, as the runtimes' log files. */
const MODE = 0o640;

export class ContainerLog {
  /** Resolves when the container's whole output is written, or the log was stopped. */
  readonly done: Promise<void>;
  private readonly end = new AbortController();
  private file: FileHandle | undefined;
  /** Serialises openings of the file: a rotation may come at any time. */
  private readonly turns = new KeyedSerializer();
  private last = "";
  /** Where the file begins while it is empty. */
  private sinceNanos = 0n;
  /** What interrupts the copying now. */
  private problem = "";

  constructor(
    private readonly container: LoggedContainer,
    private readonly deps: ContainerLogDeps,
  ) {
    this.done = this.follow();
  }

  /** The kubelet has renamed the file: further lines go to a new one. */
  reopen(): Promise<void> {
    return this.turns.run("", async () => {
      const next = await this.open();
      const { file } = this;
      this.file = next;
      await file?.close();
    });
  }

  async stop(): Promise<void> {
    this.end.abort(new Error("the log is no longer followed"));
    await this.done;
  }

  private async follow(): Promise<void> {
    const { clock, log } = this.deps;
    const { id, path } = this.container;
    const { signal } = this.end;
    try {
      while (!signal.aborted) {
        try {
          await this.turns.run("", () => this.prepare());
          await this.copy(signal, true);
          if (!(await this.isRunning(signal))) {
            // A stream that follows may end before the last lines of a container that exits at once.
            await this.copy(signal, false);
            return;
          }
        } catch (error) {
          if (isNotFound(error) || this.end.signal.aborted) return;
          const problem = messageOf(error);
          if (problem !== this.problem) {
            this.problem = problem;
            log.warn(`the log ${path} of container ${id} is interrupted: ${problem}; trying again each second`);
          }
          await this.close();
        }
        await clock.sleep(RETRY_MS, signal).catch(() => undefined);
      }
    } finally {
      await this.close();
    }
  }

  private async close(): Promise<void> {
    const { file } = this;
    this.file = undefined;
    await file?.close().catch(() => undefined);
  }

  private async prepare(): Promise<void> {
    if (this.file !== undefined) return;
    const { path } = this.container;
    await mkdir(dirname(path), { recursive: true, mode: 0o755 });
    const file = await this.open();
    this.file = file;
    const { size, mtime } = await file.stat();
    if (size > 0) {
      this.last = (await wholeLines(file, size)) ?? this.last;
      return;
    }
    if (!this.container.adopted || this.last !== "") return;
    // A file of a rotation, or the first one of a container whose output was never copied.
    const before = await rotatedBefore(path);
    if (before === undefined) return;
    this.last = (await lastTimeOf(before.path)) ?? "";
    // A compressed file has all lines up to the making of this one.
    if (this.last === "") this.sinceNanos = BigInt(Math.floor(mtime.getTime())) * 1_000_000n;
  }

  /** A pod that mounts the folder can plant links and FIFOs in it. */
  private open(): Promise<FileHandle> {
    const { path } = this.container;
    return inUntrustedFolder(dirname(path), (folder) => appendUntrusted(join(folder, basename(path)), MODE));
  }

  /** One stream of the Engine, to its end: that of the container, with `follow`, or that of its present records. */
  private async copy(signal: AbortSignal, follow: boolean): Promise<void> {
    const { id, tty } = this.container;
    const after = this.last;
    const since = after === "" ? this.sinceNanos : nanosOf(after);
    const query = { follow, stdout: true, stderr: true, timestamps: true, since: engineSince(since) };
    const stream = (await this.deps.engine.call(
      signal,
      // dockerode's own `follow`: the answer as a stream.
      (docker, abort) => docker.getContainer(id).logs({ ...request(abort, query), follow: true }),
      Infinity,
    )) as unknown as LogStream;
    const lines = new LogLines({ tty, after });
    // The request's signal ends with the answer.
    const stop = (): void => void stream.destroy();
    signal.addEventListener("abort", stop, { once: true });
    try {
      signal.throwIfAborted();
      for await (const chunk of stream) {
        const text = lines.push(chunk);
        await this.write(text);
        this.last = lines.last;
        if (this.problem !== "") {
          this.problem = "";
          this.deps.log.info(`the log ${this.container.path} of container ${id} continues`);
        }
      }
    } finally {
      signal.removeEventListener("abort", stop);
      stream.destroy();
    }
  }

  private async write(text: Buffer): Promise<void> {
    for (let at = 0; at < text.length;) {
      const { file } = this;
      if (file === undefined) return;
      const { bytesWritten } = await file.write(text, at);
      at += bytesWritten;
    }
  }

  private async isRunning(signal: AbortSignal): Promise<boolean> {
    const { State } = await this.deps.engine.call(signal, (docker, abortSignal) =>
      docker.getContainer(this.container.id).inspect(request(abortSignal)),
    );
    return State.Running;
  }
}

/**
 * Cuts off a line that a full disk or a killed process left unfinished. Returns the time of the last line; undefined:
 * there is none.
 */
async function wholeLines(file: FileHandle, size: number): Promise<string | undefined> {
  const { bytes } = await tailOf(file, size, TAIL_BYTES);
  const unfinished = bytes.length - (bytes.lastIndexOf(LINE_FEED) + 1);
  // A line is shorter than that: this file is none of ours, and stays as it is.
  if (unfinished > 0 && (unfinished < bytes.length || bytes.length === size)) await file.truncate(size - unfinished);
  const time = lastTimeIn(bytes.toString("latin1"));
  return time === "" ? undefined : time;
}

/** The newest file that the kubelet rotated away; undefined: there is none. */
async function rotatedBefore(path: string): Promise<{ path: string } | undefined> {
  const current = basename(path);
  const names = await inUntrustedFolder(dirname(path), (folder) => namesOf(folder, (name) => name !== current));
  const newest = logFileNames(names, current).at(-1);
  return newest && { path: join(dirname(path), newest.name) };
}

/** undefined: the file has no line, or it is compressed. */
async function lastTimeOf(path: string): Promise<string | undefined> {
  const { bytes } = await readTail(path, TAIL_BYTES);
  const time = lastTimeIn(bytes.toString("latin1"));
  return time === "" ? undefined : time;
}
