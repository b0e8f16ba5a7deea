// Watches the directory of flexVolume drivers while volumes wait for a driver. It uses inotify on it and on the
// directories of drivers, and a periodic scan for events that inotify missed.
// Invariant: the number of watches is bounded; nothing is watched before a driver is missing.

import { watch, type FSWatcher } from "node:fs";
import { mkdir } from "node:fs/promises";
import type { Clock } from "../../../shared/base/clock/clock.js";
import { messageOf } from "../../../shared/base/errors/thrown.js";
import { faultPoint } from "../../../shared/base/faults/fault-points.js";
import { Loop } from "../../../shared/base/turns/loop.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import { namesIn } from "../paths.js";

const RESCAN_MS = 10_000;
/** A driver is copied in several steps. */
const GAP_MS = 100;
export const MOST_DIRECTORIES = 256;

export interface DriverWatchOptions {
  directory: string;
  clock: Clock;
  log: Logger;
  /** Drivers may have been added or removed. */
  onChange(): Promise<void>;
}

export class DriverWatch {
  private readonly watchers = new Map<string, FSWatcher>();
  private readonly scans: Loop;
  private started = false;
  private complaint: string | undefined;

  constructor(private readonly options: DriverWatchOptions) {
    const { clock, log, directory } = options;
    this.scans = new Loop({
      clock,
      periodMs: RESCAN_MS,
      gapMs: GAP_MS,
      round: async (signal) => {
        await this.scan(signal);
        this.complaint = undefined;
        return undefined;
      },
      failed: (error) => {
        const text = messageOf(error);
        if (this.complaint !== text) log.error({ err: error }, `${directory} cannot be read for drivers: ${text}`);
        this.complaint = text;
        return undefined;
      },
    });
  }

  /** Idempotent. Makes the directory, as upstream does. */
  start(): void {
    if (this.started) return;
    this.started = true;
    this.scans.start();
  }

  async stop(): Promise<void> {
    await this.scans.stop();
    for (const watcher of this.watchers.values()) watcher.close();
    this.watchers.clear();
  }

  private async scan(signal: AbortSignal): Promise<void> {
    const { directory } = this.options;
    await mkdir(directory, { recursive: true, mode: 0o755 });
    const names = (await namesIn(directory)).filter((name) => !name.startsWith(".")).slice(0, MOST_DIRECTORIES);
    if (signal.aborted) return;
    const wanted = new Set([directory, ...names.map((name) => `${directory}/${name}`)]);
    for (const [path, watcher] of this.watchers) if (!wanted.has(path)) this.unwatch(path, watcher);
    for (const path of wanted) if (!this.watchers.has(path)) this.watch(path);
    await this.options.onChange();
  }

  private watch(path: string): void {
    try {
      const watcher = watch(path, { persistent: false }, (_event, name) => {
        faultPoint("plugin-watch");
        // Its own name, or none: the directory was removed, and another one in its place needs a new watch.
        if (name === null || path.endsWith(`/${name}`)) this.unwatch(path, watcher);
        this.scans.requestRound();
      });
      watcher.on("error", () => this.unwatch(path, watcher));
      this.watchers.set(path, watcher);
    } catch {
      return; // gone already, a file, or no watches left: the next scan sees a change
    }
  }

  private unwatch(path: string, watcher: FSWatcher): void {
    watcher.close();
    if (this.watchers.get(path) === watcher) this.watchers.delete(path);
  }
}
