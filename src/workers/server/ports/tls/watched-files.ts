// Small files whose contents matter while the kubelet runs: certificates, keys, CAs. A change is seen at once if the
// folder's watch reports it (rename, link swap) and within a minute otherwise; files that must come are checked each
// second.
// Invariant: contents are delivered together, as one reading; a missing file changes nothing.

import { watch, type FSWatcher } from "node:fs";
import { dirname } from "node:path";
import type { Clock, Timer } from "../../../../shared/base/clock/clock.js";
import { asError } from "../../../../shared/base/errors/thrown.js";
import { readRegularText } from "../../../../shared/io/fs/regular-file.js";
import { CREDENTIAL_LIMIT } from "../../../../shared/kubernetes/api/client/credentials/source-text.js";

const LOOK_MS = 60_000;
/** Until they were good for the first time: their folder may not even be there. */
const FIRST_LOOK_MS = 1000;
/** A writer that replaces two files needs a moment for the second. */
const SETTLE_MS = 100;

export interface WatchedFilesOptions {
  paths: readonly string[];
  /** They may never come, and their folder is there. */
  optional?: true;
  clock: Clock;
  /**
   * The contents, in the order of `paths`: first when all are there, then after each change. Throws when they are
   * unusable.
   */
  onContents(contents: readonly string[]): void;
  /** Once per cause, until the files are good again. */
  onProblem(error: Error): void;
}

export class WatchedFiles {
  private readonly timer: Timer;
  private readonly watchers: FSWatcher[] = [];
  private settle: Timer | undefined;
  private last: string | undefined;
  private problem: string | undefined;
  private reading: Promise<void> = Promise.resolve();
  private closed = false;

  constructor(private readonly options: WatchedFilesOptions) {
    this.timer = options.clock.every(LOOK_MS, () => this.readAgain()).unref();
  }

  /** Reads them now, and watches from now on. Never rejects. */
  start(): Promise<void> {
    this.watchFolders();
    this.readAgain();
    return this.reading;
  }

  close(): void {
    this.closed = true;
    this.timer.cancel();
    this.settle?.cancel();
    for (const watcher of this.watchers.splice(0)) watcher.close();
  }

  private readAgain(): void {
    if (this.closed) return;
    if (this.watchers.length === 0) this.watchFolders();
    this.reading = this.reading.then(() => this.read());
  }

  private async read(): Promise<void> {
    if (this.closed) return;
    try {
      const contents = await textsOf(this.options.paths);
      const joined = contents.join("\0");
      // Files that are as they were before a problem are delivered again.
      if ((joined === this.last && this.problem === undefined) || this.isClosed()) return;
      this.options.onContents(contents);
      this.last = joined;
      this.problem = undefined;
    } catch (error) {
      const isAwaited = this.last === undefined && this.options.optional !== true;
      if (isAwaited && !this.isClosed()) this.lookIn(FIRST_LOOK_MS);
      const failure = asError(error);
      if (failure.message === this.problem) return;
      this.problem = failure.message;
      this.options.onProblem(failure);
    }
  }

  private isClosed(): boolean {
    return this.closed;
  }

  /** A missing folder is tried again at each check. */
  private watchFolders(): void {
    if (this.closed) return;
    for (const folder of new Set(this.options.paths.map((path) => dirname(path)))) {
      try {
        const watcher = watch(folder, { persistent: false }, () => this.onEvent());
        watcher.on("error", () => watcher.close());
        this.watchers.push(watcher);
      } catch {
        // Detected at the next check.
      }
    }
  }

  private onEvent(): void {
    this.lookIn(SETTLE_MS);
  }

  private lookIn(ms: number): void {
    this.settle?.cancel();
    this.settle = this.options.clock.after(ms, () => this.readAgain());
  }
}

/** Rejects for the first path that fails: if several do, it is the same one each time. */
async function textsOf(paths: readonly string[]): Promise<string[]> {
  const read = await Promise.allSettled(paths.map((path) => readRegularText(path, CREDENTIAL_LIMIT)));
  return read.map((one) => {
    if (one.status === "rejected") throw one.reason;
    return one.value;
  });
}
