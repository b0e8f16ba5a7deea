// Watches <root-dir>/plugins_registry for sockets: inotify on every directory below it, and a scan now and then for what
// inotify missed. Invariant: one scan at a time, and one more after every event that came during it.
import { watch, type FSWatcher } from "node:fs";
import { mkdir, lstat, readdir } from "node:fs/promises";
import { basename } from "node:path";
import type { Clock } from "../../../shared/clock/clock.js";
import type { Logger } from "../../../shared/log/logger.js";
import { faultPoint } from "../../../shared/thread/fault-points.js";
import { messageOf, errorCode } from "../../../shared/errors/thrown.js";
import { Loop } from "../../../shared/turns/loop.js";

/** For events that inotify dropped, and directories that could not be watched. */
const RESCAN_MS = 10_000;
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

  constructor(private readonly options: SocketWatchOptions) {
    const { clock, directory, log } = options;
    this.scans = new Loop({
      clock,
      periodMs: RESCAN_MS,
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
    const { sockets, directories } = await scanSockets(this.options.directory);
    if (this.isStopped()) return;
    // A new directory is read again: this finds sockets that were created before the watch began.
    if (this.follow(directories)) this.scans.poke();
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
        this.scans.poke();
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

// The sockets below the plugins' directory, as they are now.

interface SocketScan {
  /** Path to identity: another socket of the same path has another one. */
  sockets: Map<string, string>;
  /** The directory itself and all below it. */
  directories: string[];
}

/** Plugins keep their sockets a level or two down; a loop of mounts must not be walked for ever. */
const DEEPEST = 8;

/** Names that begin with a dot are skipped; links are not followed. What vanishes meanwhile is left out. */
async function scanSockets(directory: string): Promise<SocketScan> {
  const scan: SocketScan = { sockets: new Map(), directories: [] };
  await walk(directory, 0, scan);
  return scan;
}

async function walk(directory: string, depth: number, scan: SocketScan): Promise<void> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(unlessGone);
  if (entries === undefined) return;
  scan.directories.push(directory);
  for (const entry of entries) {
    const path = `${directory}/${entry.name}`;
    if (entry.name.startsWith(".")) continue;
    if (entry.isDirectory() && depth < DEEPEST) await walk(path, depth + 1, scan);
    if (!entry.isSocket()) continue;
    const stats = await lstat(path, { bigint: true }).catch(unlessGone);
    // Not ctime: a change of mode makes no other socket.
    if (stats?.isSocket() === true) scan.sockets.set(path, `${stats.dev}:${stats.ino}:${stats.mtimeNs}`);
  }
}

function unlessGone(error: unknown): undefined {
  if (["ENOENT", "ENOTDIR"].includes(errorCode(error) ?? "")) return undefined;
  throw error;
}
