// Keeps an inotify watch on one folder. The folder may be missing or replaced, and the node may have no watches left.
// Invariant: after every (re)start of the watch `onRestart` triggers a full scan, since events before it were missed.

import { watch, type FSWatcher } from "node:fs";
import { stat } from "node:fs/promises";
import { basename } from "node:path";
import type { Clock, Timer } from "../../../shared/base/clock/clock.js";
import { errorCode } from "../../../shared/base/errors/error-code.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";

const RETRY_FIRST_MS = 1_000;
const RETRY_MAX_MS = 20_000;

export interface DirectoryWatchOptions {
  clock: Clock;
  log: Logger;
  /** Something happened to the entry of this name. */
  onEvent: (name: string) => void;
  /** The watch started, or started again. */
  onRestart: () => void;
  /** The folder to watch now; it may change between a file's folder and the path itself. */
  folder: () => string;
}

export class DirectoryWatch {
  private watcher: FSWatcher | undefined;
  private identity: string | undefined;
  private retryTimer: Timer | undefined;
  private retryMs = RETRY_FIRST_MS;
  private complaint: string | undefined;
  private checking: Promise<void> | undefined;
  private stopped = false;

  constructor(private readonly options: DirectoryWatchOptions) {}

  /** Starts the watch, or restarts it when the folder is no longer the one that is watched. */
  check(): Promise<void> {
    this.checking ??= this.checkOnce().finally(() => {
      this.checking = undefined;
    });
    return this.checking;
  }

  stop(): void {
    this.stopped = true;
    this.drop();
    this.retryTimer?.cancel();
  }

  private async checkOnce(): Promise<void> {
    if (this.stopped) return;
    const folder = this.options.folder();
    try {
      const stats = await stat(folder, { bigint: true });
      const identity = `${folder}:${stats.dev}:${stats.ino}`;
      if (identity === this.identity || this.isStopped()) return;
      this.drop();
      this.watchFolder(folder);
      this.identity = identity;
    } catch (error) {
      this.drop();
      this.retryLater(folder, error);
      return;
    }
    this.retryMs = RETRY_FIRST_MS;
    this.complaint = undefined;
    this.options.onRestart();
  }

  private isStopped(): boolean {
    return this.stopped;
  }

  private watchFolder(folder: string): void {
    const own = basename(folder);
    this.watcher = watch(folder, (event, name) => {
      if (name !== null) this.options.onEvent(name);
      // The folder itself was removed, or an entry with its own name came. The next folder may get the same inode
      // number, so a check cannot distinguish them. Only a new watch is sure to report later events. The second check
      // is for an event that came during a check.
      if (event === "rename" && (name === null || name === own)) {
        this.drop();
        void this.check().then(() => this.check());
      }
    });
    this.watcher.on("error", (error) => {
      this.drop();
      this.retryLater(folder, error);
    });
  }

  private drop(): void {
    this.watcher?.close();
    this.watcher = undefined;
    this.identity = undefined;
  }

  private retryLater(folder: string, error: unknown): void {
    if (this.stopped) return;
    const code = errorCode(error) ?? String(error);
    if (this.complaint !== code) {
      this.complaint = code;
      const detail = code === "ENOENT" ? "it does not exist" : code;
      this.options.log.warn(
        { folder, err: error },
        `cannot watch ${folder} (${detail}): manifests there are seen by the periodic scan only; trying again`,
      );
    }
    this.retryTimer?.cancel();
    this.retryTimer = this.options.clock.after(this.retryMs, () => void this.check());
    this.retryMs = Math.min(this.retryMs * 2, RETRY_MAX_MS);
  }
}
