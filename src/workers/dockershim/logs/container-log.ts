// The log file of one container: follows docker's records from the last one that the file has, until the container exited and all of its
// output is written. docker's stream is read only as fast as the file takes it.
// Invariant: a record is written once, however often the thread, docker or the container restarts; after a rotation new lines go to the new
// file.
import { mkdir, open, type FileHandle } from "node:fs/promises";
import { dirname } from "node:path";
import type { Clock } from "../../../shared/clock/clock.js";
import { messageOf } from "../../../shared/errors/thrown.js";
import { readTail } from "../../../shared/fs/untrusted-file.js";
import type { Logger } from "../../../shared/log/logger.js";
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

/** Wait before the Engine is asked again. */
const RETRY_MS = 1000;
const TAIL_BYTES = 128 * 1024;
/** Its group may read it, as the runtimes' log files. */
const MODE = 0o640;

export class ContainerLog {
  /** Resolves when the container's whole output is written, or the log was stopped. */
  readonly done: Promise<void>;
  private readonly end = new AbortController();
  private file: FileHandle | undefined;
  private last = "";
  /** Where the file begins while it is empty. */
  private sinceNanos = 0n;

  constructor(
    private readonly container: LoggedContainer,
    private readonly deps: ContainerLogDeps,
  ) {
    this.done = this.follow();
  }

  /** The kubelet has renamed the file: further lines go to a new one. */
  async reopen(): Promise<void> {
    const next = await open(this.container.path, "a", MODE);
    const { file } = this;
    this.file = next;
    await file?.close();
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
          await this.prepare();
          await this.copy(signal);
          if (!(await this.isRunning(signal))) return;
        } catch (error) {
          if (isNotFound(error) || this.end.signal.aborted) return;
          log.warn(
            `the log ${path} of container ${id} is interrupted: ${messageOf(error)}; it continues in ${RETRY_MS / 1000} s`,
          );
        }
        await clock.sleep(RETRY_MS, signal).catch(() => undefined);
      }
    } finally {
      const { file } = this;
      this.file = undefined;
      await file?.close().catch(() => undefined);
    }
  }

  private async prepare(): Promise<void> {
    if (this.file !== undefined) return;
    const { path, adopted } = this.container;
    await mkdir(dirname(path), { recursive: true, mode: 0o755 });
    this.file = await open(path, "a", MODE);
    const { size, mtime } = await this.file.stat();
    if (size === 0) {
      // A file of a rotation: the one before has all lines up to its making. A new container has no lines before.
      if (adopted) this.sinceNanos = BigInt(Math.floor(mtime.getTime())) * 1_000_000n;
      return;
    }
    const { bytes } = await readTail(path, TAIL_BYTES);
    this.last = lastTimeIn(bytes.toString("latin1"));
  }

  /** One stream of the Engine, to its end. */
  private async copy(signal: AbortSignal): Promise<void> {
    const { id, tty } = this.container;
    const after = this.last;
    const since = after === "" ? this.sinceNanos : nanosOf(after);
    const query = { follow: true, stdout: true, stderr: true, timestamps: true, since: engineSince(since) };
    const stream = await this.deps.engine.call(
      signal,
      (docker, abort) => docker.getContainer(id).logs({ ...request(abort, query), follow: true }),
      Infinity,
    );
    const lines = new LogLines({ tty, after });
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      const text = lines.push(chunk);
      await this.write(text);
      this.last = lines.last;
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
