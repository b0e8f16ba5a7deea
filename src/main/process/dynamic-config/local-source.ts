// The assigned configuration as files: --config and --config-dir. inotify watches the folders that matter. A periodic
// scan finds changes that no watch reports (network file systems, no watches left).

import { watch, type FSWatcher } from "node:fs";
import { stat } from "node:fs/promises";
import { basename, resolve } from "node:path";
import { Lifetime } from "../../../shared/base/abort/lifetime.js";
import type { Clock } from "../../../shared/base/clock/clock.js";
import { errorCode } from "../../../shared/base/errors/error-code.js";
import { omitUndefined } from "../../../shared/base/objects/omit-undefined.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import type { ConfigFiles, ConfigText } from "./config-files.js";
import { readDropIns, readLocal, type LocalPaths } from "./read-local.js";
import type { ConfigurationSource, SourceWatch } from "./source.js";
import { watchPointsOf, type WatchPoints } from "./watch-points.js";

/** The source finds changes that the watch missed within this time. */
const RECHECK_MS = 20_000;

export class LocalSource implements ConfigurationSource {
  readonly name = "files";

  private readonly paths: LocalPaths;

  /** `paths` may be relative to the working folder. */
  constructor(
    { config, dropIns }: LocalPaths,
    private readonly clock: Clock,
    private readonly log: Logger,
  ) {
    this.paths = omitUndefined({
      config: config === undefined ? undefined : resolve(config),
      dropIns: dropIns === undefined ? undefined : resolve(dropIns),
    });
  }

  read(): Promise<ConfigFiles> {
    return readLocal(this.paths);
  }

  /** Reads the drop-in files of --config-dir. Rejects with SourceReadError. */
  readDropIns(): Promise<ConfigText[]> {
    return readDropIns(this.paths);
  }

  watch(onChange: () => void): SourceWatch {
    const watches = new LocalWatch(this.paths, this.clock, this.log, onChange);
    watches.start();
    return watches;
  }
}

interface Watched {
  watcher: FSWatcher;
  identity: string;
}

/** Keeps one watch per relevant folder; after every event it determines the folders again. */
class LocalWatch implements SourceWatch {
  private readonly watched = new Map<string, Watched>();
  private points: WatchPoints = new Map();
  private readonly lifetime = new Lifetime();
  private recheck: { cancel(): void } | undefined;
  private refreshing: Promise<void> | undefined;
  private again = false;
  private complaint: string | undefined;

  constructor(
    private readonly paths: LocalPaths,
    private readonly clock: Clock,
    private readonly log: Logger,
    private readonly onChange: () => void,
  ) {}

  start(): void {
    this.changed();
    this.recheck = this.clock.every(RECHECK_MS, () => this.changed());
  }

  async stop(): Promise<void> {
    this.lifetime.end();
    this.recheck?.cancel();
    await this.refreshing;
    for (const folder of [...this.watched.keys()]) this.drop(folder);
  }

  private changed(): void {
    if (this.lifetime.hasEnded) return;
    this.onChange();
    this.again = true;
    this.refreshing ??= this.refresh().finally(() => {
      this.refreshing = undefined;
    });
  }

  private async refresh(): Promise<void> {
    while (this.again && !this.lifetime.hasEnded) {
      this.again = false;
      this.points = await watchPointsOf(this.paths);
      let complaint: string | undefined;
      for (const folder of this.points.keys()) complaint = (await this.keep(folder)) ?? complaint;
      for (const folder of [...this.watched.keys()]) if (!this.points.has(folder)) this.drop(folder);
      this.setProblem(complaint);
    }
  }

  /** Watches the folder, again if another took its name. Returns the problem, if any. */
  private async keep(folder: string): Promise<string | undefined> {
    try {
      const { dev, ino } = await stat(folder, { bigint: true });
      const identity = `${dev}:${ino}`;
      if (this.watched.get(folder)?.identity === identity || this.lifetime.hasEnded) return undefined;
      this.drop(folder);
      this.watchFolder(folder, identity);
      // A change between the read and the start of the watch had no event.
      this.onChange();
      this.again = true;
      return undefined;
    } catch (error) {
      this.drop(folder);
      const code = errorCode(error);
      // The folder was removed after it was found: its parent's watch reports its return.
      return code === "ENOENT" ? undefined : `cannot watch ${folder} (${code ?? String(error)})`;
    }
  }

  private watchFolder(folder: string, identity: string): void {
    const watcher = watch(folder, (event, name) => {
      const names = this.points.get(folder);
      const matters = name === null || names === undefined || names === "all" || names.has(name);
      // An event about the folder itself carries its own name. It may be gone, and the next folder of its name may get
      // its inode number again. Only a new watch is sure to see it.
      const own = name === basename(folder);
      if (own && event === "rename" && this.watched.get(folder)?.watcher === watcher) this.drop(folder);
      if (matters || own) this.changed();
    });
    watcher.on("error", () => {
      this.drop(folder);
      this.changed();
    });
    this.watched.set(folder, { watcher, identity });
  }

  private drop(folder: string): void {
    this.watched.get(folder)?.watcher.close();
    this.watched.delete(folder);
  }

  private setProblem(complaint: string | undefined): void {
    if (complaint !== undefined && complaint !== this.complaint) {
      this.log.warn({}, `${complaint}: changes of the configuration are seen within ${RECHECK_MS / 1000} s only`);
    }
    this.complaint = complaint;
  }
}
