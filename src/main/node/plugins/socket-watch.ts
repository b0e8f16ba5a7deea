// Watches <root-dir>/plugins_registry for sockets: inotify on every directory below it, and a scan now and then for
// what inotify missed. Invariant: one scan at a time, and one more after every event that came during it; a plugin that
// makes sockets all the time causes no more than one scan per GAP_MS.

import { watch, type FSWatcher } from "node:fs";
import { mkdir } from "node:fs/promises";
import { basename } from "node:path";
import type { Clock } from "../../../shared/base/clock/clock.js";
import { messageOf } from "../../../shared/base/errors/thrown.js";
import { faultPoint } from "../../../shared/base/faults/fault-points.js";
import { Loop } from "../../../shared/base/turns/loop.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import { MOST_SOCKETS, scanSockets } from "./socket-scan.js";

/** For events that inotify dropped, and directories that could not be watched. */
const RESCAN_MS = 10_000;
/** Between the beginnings of two scans. */
const GAP_MS = 100;
const DIRECTORY_MODE = 0o750;

export interface SocketWatchOptions {
  directory: string;
  clock: Clock;
  log: Logger;
  /** All sockets there are, by path, with their identity; called when that may have changed. */
  onSockets(sockets: ReadonlyMap<string, string>): void;
}

export class SocketWatch {
  private readonly watchers = new Map<string, FSWatcher>();
  private readonly scans: Loop;
  private stopped = false;
  private complaint: string | undefined;
  /** Paths of the last scan's sockets. */
  private known: readonly string[] = [];
  private wasCut = false;

  constructor(private readonly options: SocketWatchOptions) {
    const { clock, directory, log } = options;
    this.scans = new Loop({
      clock,
      periodMs: RESCAN_MS,
      gapMs: GAP_MS,
      round: async () => {
        await this.scan();
        this.complaint = undefined;
        return undefined;
      },
      failed: (error) => {
        const text = messageOf(error);
        if (this.complaint !== text)
          log.error({ err: error }, `${directory} cannot be read for plugins: ${text}; trying again`);
        this.complaint = text;
        return undefined;
      },
    });
  }

  /** Makes the directory; resolves after the first scan. */
  async start(): Promise<void> {
    await mkdir(this.options.directory, { recursive: true, mode: DIRECTORY_MODE });
    this.scans.start();
    await this.scans.settled();
  }

  async stop(): Promise<void> {
    this.stopped = true;
    await this.scans.stop();
    for (const watcher of this.watchers.values()) watcher.close();
    this.watchers.clear();
  }

  private async scan(): Promise<void> {
    const { directory, log } = this.options;
    const { sockets, directories, isCut } = await scanSockets(directory, this.known);
    if (this.isStopped()) return;
    this.known = [...sockets.keys()];
    if (isCut && !this.wasCut) {
      log.warn(
        `${directory} has more entries than the kubelet reads; it takes ${MOST_SOCKETS} sockets of plugins at most`,
      );
    }
    this.wasCut = isCut;
    // A new directory is read again: this finds sockets that were created before the watch began.
    if (this.follow(directories)) this.scans.requestRound();
    this.options.onSockets(sockets);
  }

  /** True when there are directories that were not watched before. */
  private follow(directories: readonly string[]): boolean {
    const wanted = new Set(directories);
    for (const [directory, watcher] of this.watchers) {
      if (wanted.has(directory)) continue;
      watcher.close();
      this.watchers.delete(directory);
    }
    const added = directories.filter((directory) => !this.watchers.has(directory));
    return added.filter((directory) => this.watch(directory)).length > 0;
  }

  private watch(directory: string): boolean {
    try {
      const watcher = watch(directory, { persistent: false }, (_event, name) => {
        faultPoint("plugin-watch");
        // An event with the directory's own name: the directory was removed. A new one in its place, perhaps with the
        // same inode, needs a new watch.
        if (name === null || name === basename(directory)) this.unwatch(directory, watcher);
        this.scans.requestRound();
      });
      watcher.on("error", () => this.unwatch(directory, watcher));
      this.watchers.set(directory, watcher);
      return true;
    } catch {
      return false; // gone already, or no watches left: the scan sees it
    }
  }

  private unwatch(directory: string, watcher: FSWatcher): void {
    watcher.close();
    if (this.watchers.get(directory) === watcher) this.watchers.delete(directory);
  }

  private isStopped(): boolean {
    return this.stopped;
  }
}
