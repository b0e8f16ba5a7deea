// Static pods of a file or folder (staticPodPath). inotify reports changes at once; a scan every fileCheckFrequency
// finds missed ones. Only names come from here; reading is the ManifestFile's, parsing the tasks pool's.

import { lstat, readdir, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { Lifetime } from "../../../shared/base/abort/lifetime.js";
import type { Clock } from "../../../shared/base/clock/clock.js";
import { errorCode } from "../../../shared/base/errors/error-code.js";
import { messageOf } from "../../../shared/base/errors/thrown.js";
import { Loop } from "../../../shared/base/turns/loop.js";
import { NativeBindingError, isOsCallError } from "../../../shared/io/os/errors.js";
import { IN, Inotify, type InotifyEvent } from "../../../shared/io/os/inotify.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import type { DecodeOptions } from "./decode-job.js";
import { DirectoryWatch } from "./directory-watch.js";
import { ManifestFile } from "./manifest-file.js";
import { ManifestRoom } from "./manifest-room.js";
import { ManifestSet } from "./manifest-set.js";
import { unreadable, type ManifestState, type Refusal } from "./manifest-state.js";
import { misnamedFiles } from "./misnamed-files.js";
import type { PodChanges } from "./pod-changes.js";
import { StaticPodUids, type StaticPodUidsOptions } from "./static-pod-uids.js";

const MISNAMED = "its file name is not UTF-8: rename it, and its pod starts";

export interface FileSourceOptions {
  /** File or folder; it need not exist. */
  path: string;
  checkFrequencyMs: number;
  decode: Omit<DecodeOptions, "signal">;
  clock: Clock;
  log: Logger;
  /** Reports whether static pods run already under UIDs of another kubelet. */
  earlier: Pick<StaticPodUidsOptions, "path" | "uidsOnDisk" | "runningPods">;
  /** Gets the whole set after every change: complete once every file of the first scan was read or refused. */
  changes: Pick<PodChanges, "deliver">;
  /** What `manifests` returns has changed. */
  onManifests: () => void;
}

export class FileSource {
  private readonly uids: StaticPodUids;
  private readonly set: ManifestSet<ManifestFile>;
  private readonly watch: DirectoryWatch;
  private readonly removals = new RemovalWatch((name) => this.onRemoved(name));
  private readonly lifetime = new Lifetime();
  private readonly examinations = new Set<Promise<void>>();
  private readonly room = new ManifestRoom();
  private hasReserved = false;
  private folder: string;
  /** Set when the path is a single file. */
  private only: string | undefined;
  private readonly scans: Loop;
  private misnamed = new Map<string, Refusal>();
  private complaint: { code: string; refused: Refusal } | undefined;

  constructor(private readonly options: FileSourceOptions) {
    this.folder = options.path;
    const { earlier, changes, clock, log } = options;
    this.uids = new StaticPodUids({ ...earlier, changedAt: (pod) => this.changedAt(pod), changes, clock, log });
    this.set = new ManifestSet({ uids: this.uids, clock, onChange: options.onManifests });
    this.watch = new DirectoryWatch({
      clock: options.clock,
      log: options.log,
      folder: () => this.folder,
      onEvent: (name) => this.onEvent(name),
      onRestart: () => this.scans.requestRound(),
    });
    this.scans = new Loop({
      clock: options.clock,
      periodMs: options.checkFrequencyMs,
      round: async () => {
        await this.scan();
        return undefined;
      },
      failed: (error) => {
        options.log.error({ err: error }, `cannot scan ${options.path} for manifests: ${messageOf(error)}`);
        return undefined;
      },
    });
  }

  start(): void {
    this.scans.start();
  }

  async stop(): Promise<void> {
    this.lifetime.end();
    this.watch.stop();
    this.removals[Symbol.dispose]();
    for (const file of this.set.files.values()) file.stop();
    this.set.stop();
    await Promise.all([this.scans.stop(), this.uids.stop()]);
    await Promise.all(this.examinations);
  }

  /**
   * Time of the last change to a delivered pod's manifest, ns since the epoch; undefined if it was removed. A link
   * counts with its target.
   */
  async changedAt(pod: Pod): Promise<bigint | undefined> {
    const name = [...this.set.files].find(([, { pods }]) => pods.includes(pod))?.[0];
    if (name === undefined) return undefined;
    const path = join(this.folder, name);
    try {
      const [link, target] = await Promise.all([lstat(path, { bigint: true }), stat(path, { bigint: true })]);
      return link.ctimeNs > target.ctimeNs ? link.ctimeNs : target.ctimeNs;
    } catch (error) {
      if (errorCode(error) === "ENOENT") return undefined;
      throw error;
    }
  }

  /** Every file that was read or refused, and the folder itself while it cannot be listed. */
  *manifests(): Iterable<ManifestState> {
    if (this.complaint !== undefined) {
      yield { origin: this.folder, source: "file", pods: [], refused: this.complaint.refused, warnings: [] };
    }
    for (const [name, refused] of this.misnamed) {
      yield { origin: this.pathOf(name), source: "file", pods: [], refused, warnings: [] };
    }
    for (const [name, { exists, settled, pods, refused, warnings }] of this.set.files) {
      if (!exists || !settled) continue;
      yield {
        origin: this.pathOf(name),
        source: "file",
        pods: pods.map((pod) => this.uids.delivered(pod)),
        refused,
        warnings,
      };
    }
  }

  private onEvent(name: string): void {
    if (this.lifetime.hasEnded || !this.isWanted(name)) return;
    this.examine(name);
  }

  private isStopped(): boolean {
    return this.lifetime.hasEnded;
  }

  private onRemoved(name: string): void {
    if (this.isStopped()) return;
    const file = this.set.files.get(name);
    if (file === undefined) return;
    file.removed();
    this.examine(name);
  }

  private isWanted(name: string): boolean {
    return this.only === undefined ? !name.startsWith(".") : name === this.only;
  }

  private async scan(): Promise<void> {
    await this.locate();
    await this.reserveOnce();
    await this.watch.check();
    const names = await this.list();
    if (names === undefined) return;
    const present = new Set(names);
    for (const name of this.set.files.keys()) if (!present.has(name)) this.examine(name);
    for (const name of names) this.examine(name);
    this.set.onScanned();
    if (!this.isStopped()) this.removals.watch(this.folder);
  }

  /** Before any file is read, also one of which the watch tells. */
  private async reserveOnce(): Promise<void> {
    if (this.hasReserved) return;
    const names = await this.list();
    await this.room.reserve((names ?? []).map((name) => this.pathOf(name)));
    this.hasReserved = names !== undefined;
  }

  /** Finds out whether the path is a folder or one file; a missing path keeps its last kind. */
  private async locate(): Promise<void> {
    const { path } = this.options;
    const stats = await stat(path).catch(() => undefined);
    if (stats === undefined) return;
    const isFolder = stats.isDirectory();
    this.folder = isFolder ? path : dirname(path);
    this.only = isFolder ? undefined : basename(path);
  }

  /** Names of the manifests; undefined if the folder cannot be read: its content is then unknown. */
  private async list(): Promise<string[] | undefined> {
    try {
      const names = await readdir(this.folder);
      this.setProblem(undefined);
      const wanted = names.filter((name) => this.isWanted(name)).sort();
      await this.noteMisnamed(wanted);
      return wanted;
    } catch (error) {
      const code = errorCode(error) ?? String(error);
      if (code === "ENOENT") return [];
      if (this.complaint?.code !== code) {
        const refused = unreadable(`its files cannot be listed (${code})`, this.options.clock.now());
        this.setProblem({ code, refused });
        const text = `cannot list manifests in ${this.folder} (${code}); keeping the known pods`;
        this.options.log.error({ folder: this.folder, err: error }, text);
      }
      return undefined;
    }
  }

  /** Upstream's kubelet runs them; they are refused here, with what to do. */
  private async noteMisnamed(names: readonly string[]): Promise<void> {
    const found = new Set(await misnamedFiles(this.folder, names));
    if (found.size === 0 && this.misnamed.size === 0) return;
    const { clock, log, onManifests } = this.options;
    const before = this.misnamed;
    this.misnamed = new Map();
    for (const name of names.filter((one) => found.has(one))) {
      this.misnamed.set(name, before.get(name) ?? unreadable(MISNAMED, clock.now()));
      if (!before.has(name)) log.error({ path: this.pathOf(name) }, `manifest ${this.pathOf(name)}: ${MISNAMED}`);
    }
    onManifests();
  }

  private setProblem(complaint: { code: string; refused: Refusal } | undefined): void {
    if (this.complaint === undefined && complaint === undefined) return;
    this.complaint = complaint;
    this.options.onManifests();
  }

  /** The path is part of a static pod's identity: it is built from the configured one. */
  private pathOf(name: string): string {
    return this.only === undefined ? join(this.options.path, name) : this.options.path;
  }

  private examine(name: string): void {
    const { clock, log, decode } = this.options;
    let file = this.set.files.get(name);
    if (file === undefined) {
      file = new ManifestFile({
        path: this.pathOf(name),
        decode: { ...decode, signal: this.lifetime.signal },
        clock,
        log,
        set: this.set,
        room: this.room,
      });
      this.set.files.set(name, file);
    }
    const examination = this.finish(name, file);
    this.examinations.add(examination);
    void examination.finally(() => this.examinations.delete(examination));
  }

  /** A removed file is forgotten, but not before its last examination ended: an event may have requested one more. */
  private async finish(name: string, file: ManifestFile): Promise<void> {
    await file.examine();
    if (!file.exists && this.set.files.get(name) === file) this.set.files.delete(name);
  }
}

/**
 * Detects that a manifest was removed, even if another file has its name a moment later. Then the pod starts again. A
 * rename over it does not, and fs.watch cannot distinguish the two. Best effort: without inotify the files are still
 * scanned.
 */
class RemovalWatch implements Disposable {
  private inotify: Inotify | undefined;
  private current: number | undefined;

  /** @param onRemoved gets the name of the entry that went */
  constructor(private readonly onRemoved: (name: string) => void) {}

  /** Cheap when the folder is the one that is watched already; another one of its name takes its place. */
  watch(folder: string): void {
    try {
      this.inotify ??= new Inotify({
        onEvents: (events) => this.onEvents(events),
        onError: () => this[Symbol.dispose](),
      }).unref();
      const before = this.current;
      this.current = this.inotify.watch(folder, IN.DELETE | IN.MOVED_FROM);
      if (before !== undefined && before !== this.current) this.inotify.unwatch(before);
    } catch (error) {
      // The folder is not there, or there is no instance to be had: the next scan tries again.
      if (!isOsCallError(error) && !(error instanceof NativeBindingError)) throw error;
    }
  }

  [Symbol.dispose](): void {
    this.inotify?.[Symbol.dispose]();
    this.inotify = undefined;
    this.current = undefined;
  }

  private onEvents(events: readonly InotifyEvent[]): void {
    for (const { watch, mask, name } of events) {
      if (watch === this.current && (mask & (IN.DELETE | IN.MOVED_FROM)) !== 0) this.onRemoved(name);
    }
  }
}
