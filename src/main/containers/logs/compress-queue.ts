// Compresses rotated logs after the rotation, one file at a time in the tasks pool. So neither a rotation nor the
// pool's other thread (manifests) waits for it.
// Invariant: a log is queued once, however often it is rotated. After a failure the next rotation finds the
// uncompressed files again by their names.

import { basename, dirname, join } from "node:path";
import { Lifetime } from "../../../shared/base/abort/lifetime.js";
import { messageOf } from "../../../shared/base/errors/thrown.js";
import type { CompressLogJob, CompressLogResult } from "../../../shared/contracts/tasks.js";
import { NotRegularFileError, statUntrusted } from "../../../shared/io/fs/untrusted-file.js";
import { inUntrustedFolder, namesOf } from "../../../shared/io/fs/untrusted-folder.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import { filesToCompress } from "./plan-rotation.js";

/** The part of the tasks pool that is needed here. */
export type RunCompress = (
  job: CompressLogJob,
  options: { deadlineMs: number; signal: AbortSignal },
) => Promise<CompressLogResult>;

export interface CompressQueueDeps {
  run: RunCompress;
  /**
   * Bytes; a larger file stays uncompressed. A pod may plant a sparse file of terabytes, which would occupy the pool
   * for days.
   */
  largest: number;
  log: Logger;
  onDone(outcome: CompressLogResult["outcome"], logPath: string): void;
}

/** A slow disk must not end a job that makes progress. A job below 1 MiB a second counts as stopped. */
const DEADLINE_MS = 30_000;
const DEADLINE_MS_PER_MIB = 1000;
const MIB = 1024 * 1024;

class LogTooLargeError extends Error {
  override readonly name = "LogTooLargeError";
  constructor(name: string, size: number, largest: number) {
    super(`${name} has ${size} bytes; files above ${largest} bytes are not compressed`);
  }
}

export class CompressQueue {
  /** Paths of logs with files to compress, first come first served. */
  private readonly waiting = new Set<string>();
  private readonly lifetime = new Lifetime();
  private working: Promise<void> | undefined;
  private file: string | undefined;
  private readonly complaints = new Map<string, string>();

  constructor(private readonly deps: CompressQueueDeps) {}

  /** The rotated files of this log are to be compressed. */
  add(logPath: string): void {
    if (this.lifetime.hasEnded) return;
    this.waiting.add(logPath);
    this.working ??= this.work().finally(() => {
      this.working = undefined;
    });
  }

  /** The log is no longer kept an eye on. */
  forget(logPath: string): void {
    this.complaints.delete(logPath);
  }

  /** Names, in this folder, of files that are being compressed. */
  inWork(directory: string): ReadonlySet<string> {
    const { file } = this;
    return new Set(file !== undefined && dirname(file) === directory ? [basename(file)] : []);
  }

  /** Resolves when nothing is left to do. */
  async idle(): Promise<void> {
    while (this.working !== undefined) await this.working;
  }

  async stop(): Promise<void> {
    this.lifetime.end();
    this.waiting.clear();
    await this.idle();
  }

  private async work(): Promise<void> {
    for (;;) {
      const [logPath] = this.waiting;
      if (logPath === undefined) return;
      this.waiting.delete(logPath);
      // One file at a turn: a log that floods must not keep the others waiting.
      if (await this.compressOldest(logPath)) this.waiting.add(logPath);
    }
  }

  /** Whether there is more to do for this log. */
  private async compressOldest(logPath: string): Promise<boolean> {
    try {
      return await inUntrustedFolder(dirname(logPath), (folder) => this.compressIn(folder, logPath));
    } catch (error) {
      if (!this.lifetime.hasEnded) this.warnOnce(logPath, error);
      return false;
    } finally {
      this.file = undefined;
    }
  }

  /** @param folder another path of the log's folder: the pool is in the same process */
  private async compressIn(folder: string, logPath: string): Promise<boolean> {
    const current = basename(logPath);
    let problem: Error | undefined;
    for (const name of filesToCompress(await namesOf(folder, (other) => other.startsWith(current)), current)) {
      try {
        await this.compressFile(folder, name, logPath);
        if (problem === undefined) this.complaints.delete(logPath);
        else this.warnOnce(logPath, problem);
        return true;
      } catch (error) {
        if (!(error instanceof NotRegularFileError || error instanceof LogTooLargeError)) throw error;
        // Planted: the files after it are compressed all the same.
        problem ??= error;
      }
    }
    if (problem !== undefined) this.warnOnce(logPath, problem);
    return false;
  }

  private async compressFile(folder: string, name: string, logPath: string): Promise<void> {
    const path = join(folder, name);
    const size = Number((await statUntrusted(path)).size);
    if (size > this.deps.largest) throw new LogTooLargeError(name, size, this.deps.largest);
    this.file = join(dirname(logPath), name);
    const deadlineMs = DEADLINE_MS + Math.ceil(size / MIB) * DEADLINE_MS_PER_MIB;
    const result = await this.deps.run({ path }, { deadlineMs, signal: this.lifetime.signal });
    this.deps.onDone(result.outcome, logPath);
    if (result.outcome === "failed") throw new Error(`${result.code}: ${result.message}`);
  }

  private warnOnce(logPath: string, error: unknown): void {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return; // the pod is gone
    const message = messageOf(error);
    if (this.complaints.get(logPath) === message) return;
    this.complaints.set(logPath, message);
    this.deps.log.warn(
      { err: error, path: logPath },
      `rotated files of log ${logPath} stay uncompressed until its next rotation: ${message}`,
    );
  }
}
