// Keeps the logs of running containers within their limits. It checks their sizes as often as their growth requires and
// rotates those that are full. The tasks pool compresses them.
// Invariant: a log is looked at every containerLogMonitorInterval at least, or every minute while the kernel watches it
// and it has not changed; one that fails delays no other for longer than one call to the runtime may take; nothing runs
// after stop().

import { basename, dirname, join } from "node:path";
import { AbortBranches } from "../../../shared/base/abort/branches.js";
import { Lifetime } from "../../../shared/base/abort/lifetime.js";
import type { Clock, Timer } from "../../../shared/base/clock/clock.js";
import { errorCode } from "../../../shared/base/errors/error-code.js";
import { messageOf } from "../../../shared/base/errors/thrown.js";
import { LoopShare } from "../../../shared/base/turns/loop-share.js";
import { NotRegularFileError, openUntrusted, statUntrusted } from "../../../shared/io/fs/untrusted-file.js";
import { inUntrustedFolder, namesOf } from "../../../shared/io/fs/untrusted-folder.js";
import { Limiter } from "../../../shared/kubernetes/cri/limiter.js";
import type { ContainerId } from "../../../shared/kubernetes/identifiers.js";
import { onLogFile } from "../../../shared/node/container-logs/own-log-link.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import { CompressQueue, type RunCompress } from "./compress-queue.js";
import { nextLook, SOONEST_MS, type Growth } from "./next-look.js";
import { rotateLog } from "./rotate.js";
import type { RunningLog } from "./running-logs.js";
import { WriteWatch } from "./write-watch.js";

export interface LogRotationSettings {
  /** Bytes. */
  containerLogMaxSize: number;
  containerLogMaxFiles: number;
  containerLogMaxWorkers: number;
  containerLogMonitorIntervalMs: number;
}

export interface LogRotationDeps {
  settings: LogRotationSettings;
  running(): Iterable<RunningLog>;
  /** Another number than before: the running containers may be others. */
  changes(): number;
  /** Whether the container of a log still runs. Thousands of logs may be asked for at once. */
  isRunning(log: RunningLog): boolean;
  /** CRI ReopenContainerLog. */
  reopen(containerId: ContainerId, options: { deadlineMs: number; signal: AbortSignal }): Promise<unknown>;
  compress: RunCompress;
  counted: { rotation(result: "ok" | "failed"): void; compression(outcome: string): void };
  clock: Clock;
  log: Logger;
}

export interface LogUsage {
  log: RunningLog;
  bytes: number;
}

interface Entry {
  log: RunningLog;
  dueAt: number;
  waitedMs: number;
  busy: boolean;
  last: { size: number; ino: bigint; at: number } | undefined;
  /** Size of the other files in the log's folder, when it was last measured. */
  others: number;
  /** They changed since, or while they were measured. */
  othersChanged: boolean;
  /** It wakes the log at its next write. It is made once for a file: to make it costs more than the looks. */
  watch: WriteWatch | undefined;
  complaint: string | undefined;
}

/** New containers are found this soon. */
const SCAN_MS = 1000;
/** Between two passes over all logs. */
const GATHER_MS = 50;
/**
 * Between two looks at a log whose watch is armed: the kernel drops events if too many wait. A look opens and closes
 * four folders, and a node at rest has little other work on files.
 */
const WATCHED_MS = 60_000;
/** Rotated files up to this size are compressed, or up to so many times containerLogMaxSize, bytes. */
export const LARGEST_COMPRESSED = 1024 ** 3;
const LARGEST_COMPRESSED_SIZES = 4;
/** A runtime that does not respond occupies a worker for this time. */
const REOPEN_DEADLINE_MS = 10_000;

export class LogRotation {
  private readonly entries = new Map<ContainerId, Entry>();
  private readonly workers: Limiter;
  private readonly compression: CompressQueue;
  private readonly lifetime = new Lifetime();
  /** Thousands of logs may wait for a worker: each has a signal of its own. */
  private readonly branches = new AbortBranches(this.lifetime.signal);
  private readonly looks = new Set<Promise<void>>();
  private timer: Timer | undefined;
  private timerAt = Infinity;
  private tickedAt = -Infinity;
  private discoverAt = 0;
  /** `changes` at the last scan that succeeded. */
  private seen: number | undefined;
  private readonly loop: LoopShare;

  constructor(private readonly deps: LogRotationDeps) {
    this.loop = new LoopShare(deps.clock);
    this.workers = new Limiter(deps.settings.containerLogMaxWorkers, deps.clock);
    this.compression = new CompressQueue({
      run: deps.compress,
      largest: Math.max(LARGEST_COMPRESSED, LARGEST_COMPRESSED_SIZES * deps.settings.containerLogMaxSize),
      log: deps.log,
      onDone: (outcome, path) => this.onCompressed(outcome, path),
    });
    this.schedule(deps.clock.monotonic() + SCAN_MS);
  }

  /** Disk usage of the logs of running containers, as measured last. */
  *usage(): Generator<LogUsage> {
    for (const { log, last, others } of this.entries.values()) {
      if (last !== undefined) yield { log, bytes: last.size + others };
    }
  }

  async stop(): Promise<void> {
    this.lifetime.end();
    this.timer?.cancel();
    for (const entry of this.entries.values()) endWatch(entry);
    await Promise.all([...this.looks, this.compression.stop()]);
  }

  /**
   * The next tick, unless an earlier one is due. A node may have ten thousand logs: those due within GATHER_MS share a
   * tick.
   */
  private schedule(dueAt: number): void {
    if (this.lifetime.hasEnded) return;
    const now = this.deps.clock.monotonic();
    const at = Math.max(dueAt, this.tickedAt + GATHER_MS);
    if (at >= this.timerAt) return;
    this.timer?.cancel();
    this.timerAt = at;
    this.timer = this.deps.clock.after(Math.max(0, at - now), () => this.tick()).unref();
  }

  private tick(): void {
    const now = this.deps.clock.monotonic();
    // A thousand idle logs make twenty ticks a second, and a scan takes all pods.
    if (now >= this.discoverAt) this.scan();
    this.timerAt = Infinity;
    this.tickedAt = now;
    let next = this.discoverAt;
    for (const entry of this.entries.values()) {
      if (entry.busy) continue;
      if (entry.dueAt > now) {
        next = Math.min(next, entry.dueAt);
        continue;
      }
      entry.busy = true;
      const inspect = this.checkEntry(entry).finally(() => {
        entry.busy = false;
        this.looks.delete(inspect);
        this.schedule(entry.dueAt);
      });
      this.looks.add(inspect);
    }
    this.schedule(next);
  }

  private scan(): void {
    this.discoverAt = this.deps.clock.monotonic() + SCAN_MS;
    // At rest nothing changes for hours.
    const changes = this.deps.changes();
    if (changes === this.seen) return;
    try {
      this.discover();
      this.seen = changes;
    } catch (error) {
      // The logs that are known are kept within their limits all the same.
      this.deps.log.error({ err: error }, `cannot list the logs of running containers: ${messageOf(error)}`);
    }
  }

  private discover(): void {
    const gone = new Set(this.entries.keys());
    for (const log of this.deps.running()) {
      gone.delete(log.containerId);
      if (this.entries.has(log.containerId)) continue;
      this.entries.set(log.containerId, {
        log,
        dueAt: 0,
        waitedMs: 0,
        busy: false,
        last: undefined,
        others: 0,
        othersChanged: true,
        watch: undefined,
        complaint: undefined,
      });
    }
    for (const id of gone) {
      const entry = this.entries.get(id);
      if (entry === undefined) continue;
      endWatch(entry);
      this.compression.forget(entry.log.path);
      this.entries.delete(id);
    }
  }

  /** Never rejects. */
  private async checkEntry(entry: Entry): Promise<void> {
    const { containerLogMaxSize: maxSize, containerLogMonitorIntervalMs: monitorIntervalMs } = this.deps.settings;
    let afterMs = monitorIntervalMs;
    let isWoken = false;
    await this.loop.turn();
    try {
      let growth = await this.measure(entry);
      if (growth === undefined || growth.size >= maxSize) {
        const missing = growth === undefined;
        endWatch(entry);
        // Its container may have ended since the last scan, which forgets the log.
        if (!this.deps.isRunning(entry.log)) {
          entry.dueAt = this.discoverAt;
          return;
        }
        await this.withWorker((signal) => (missing ? this.reopen(entry, signal) : this.rotate(entry, signal)));
        growth = afterRotation(growth);
      }
      const next = nextLook(growth, { maxSize, monitorIntervalMs });
      afterMs = next.afterMs;
      if (next.asleep) isWoken = await this.watchWrites(entry);
      else endWatch(entry);
      entry.complaint = undefined;
    } catch (error) {
      endWatch(entry);
      this.warnOnce(entry, error);
    }
    entry.waitedMs = isWoken ? SOONEST_MS : afterMs;
    const isWatched = entry.watch?.isArmed === true;
    entry.dueAt = this.deps.clock.monotonic() + (isWatched ? Math.max(WATCHED_MS, afterMs) : entry.waitedMs);
    if (this.lifetime.hasEnded || !this.entries.has(entry.log.containerId)) endWatch(entry);
  }

  /** undefined: the file is not there, as after a crash between rename and reopening. */
  private async measure(entry: Entry): Promise<Growth | undefined> {
    const { last, waitedMs, log } = entry;
    const now = this.deps.clock.monotonic();
    let stats: { size: bigint; ino: bigint };
    try {
      // One way into the folder: it costs more than the looks inside.
      stats = await inLogFolder(log.path, async (folder) => {
        const found = await ownFile(log, folder, statUntrusted);
        if (entry.othersChanged) {
          entry.othersChanged = false;
          entry.others = await sizeOfOthers(join(folder, basename(log.path)));
        }
        return found;
      });
    } catch (error) {
      if (errorCode(error) !== "ENOENT") throw error;
      return undefined;
    }
    const { ino } = stats;
    const size = Number(stats.size);
    entry.last = { size, ino, at: now };
    if (last?.ino !== ino) return { size, grown: size, elapsedMs: 0, waitedMs };
    return { size, grown: size - last.size, elapsedMs: now - last.at, waitedMs };
  }

  private async withWorker(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    await this.branches.run(async (signal) => {
      await this.workers.acquire({ signal });
      try {
        await work(signal);
        this.deps.counted.rotation("ok");
      } catch (error) {
        this.deps.counted.rotation("failed");
        throw error;
      } finally {
        this.workers.release();
      }
    });
  }

  private async rotate(entry: Entry, signal: AbortSignal): Promise<void> {
    const { path, containerId } = entry.log;
    // It may have ended while it waited for a worker: its last log keeps its name.
    if (!this.entries.has(containerId)) return;
    const directory = dirname(path);
    await rotateLog({
      directory,
      current: basename(path),
      maxFiles: this.deps.settings.containerLogMaxFiles,
      now: new Date(this.deps.clock.now()),
      inWork: this.compression.inWork(directory),
      reopen: () => this.reopen(entry, signal),
    });
    this.compression.add(path);
    entry.othersChanged = true;
    // The new file's growth counts from here.
    entry.last = undefined;
    await this.measure(entry);
  }

  private async reopen({ log: { containerId } }: Entry, signal: AbortSignal): Promise<void> {
    await this.deps.reopen(containerId, { deadlineMs: REOPEN_DEADLINE_MS, signal });
  }

  /** Resolves to true if a write came since the file was measured. */
  private async watchWrites(entry: Entry): Promise<boolean> {
    const { watch } = entry;
    if (watch?.isArmed === true && watch.ino === entry.last?.ino) return false;
    endWatch(entry);
    if (watch?.hasFired === true) return true;
    await inLogFolder(entry.log.path, (folder) => this.beginWatch(entry, folder));
    // A write may have come while the folder was closed.
    const isWoken = entry.watch?.hasFired === true;
    if (isWoken) endWatch(entry);
    return isWoken;
  }

  /** By its open file: a watch on a name would follow a link that was planted there. */
  private async beginWatch(entry: Entry, folder: string): Promise<void> {
    const { handle, stats } = await ownFile(entry.log, folder, (path) => openUntrusted(path));
    try {
      entry.watch = new WriteWatch(`/proc/self/fd/${handle.fd}`, stats.ino, () => this.onWrite(entry));
    } finally {
      await handle.close();
    }
  }

  /** The first write to an idle log: its rate counts from here. A look that is under way finds it by the watch. */
  private onWrite(entry: Entry): void {
    if (entry.busy) return;
    endWatch(entry);
    const now = this.deps.clock.monotonic();
    if (entry.last !== undefined) entry.last.at = now;
    entry.waitedMs = SOONEST_MS;
    entry.dueAt = now + SOONEST_MS;
    this.schedule(entry.dueAt);
  }

  private onCompressed(outcome: string, path: string): void {
    this.deps.counted.compression(outcome);
    for (const entry of this.entries.values()) {
      if (entry.log.path !== path) continue;
      entry.othersChanged = true;
      if (entry.busy) continue;
      entry.dueAt = Math.min(entry.dueAt, this.deps.clock.monotonic() + SOONEST_MS);
      this.schedule(entry.dueAt);
    }
  }

  private warnOnce(entry: Entry, error: unknown): void {
    const { namespace, pod, container, uid, path } = entry.log;
    const message = messageOf(error);
    // The files of a container that ended meanwhile may be gone.
    if (this.lifetime.hasEnded || entry.complaint === message || !this.deps.isRunning(entry.log)) return;
    entry.complaint = message;
    this.deps.log.warn(
      { err: error, uid, container, path },
      `cannot keep the log of container ${container} of pod ${namespace}/${pod} within its limits: ${message}`,
    );
  }
}

function endWatch(entry: Entry): void {
  entry.watch?.[Symbol.dispose]();
  entry.watch = undefined;
}

/** The new file fills as fast as the old one did; a rate not known yet is taken for a high one. */
function afterRotation(growth: Growth | undefined): Growth {
  if (growth === undefined) return { size: 0, grown: 0, elapsedMs: 0, waitedMs: 0 };
  return { ...growth, size: 0, elapsedMs: growth.elapsedMs > 0 ? growth.elapsedMs : SOONEST_MS };
}

/** Beside the file, whose folder is open. Files that vanish meanwhile take up nothing. */
async function sizeOfOthers(path: string): Promise<number> {
  const folder = dirname(path);
  let sum = 0;
  for (const name of await namesOf(folder, (other) => other !== basename(path)))
    sum += await sizeOf(join(folder, name));
  return sum;
}

/** Only regular files count: a container may have planted others. */
async function sizeOf(path: string): Promise<number> {
  try {
    return Number((await statUntrusted(path)).size);
  } catch (error) {
    if (error instanceof NotRegularFileError || errorCode(error) === "ENOENT") return 0;
    throw error;
  }
}

/** @param work gets another path of the log's folder */
function inLogFolder<T>(path: string, work: (folder: string) => Promise<T>): Promise<T> {
  return inUntrustedFolder(dirname(path), work);
}

/** On the file of the log, or on Docker's file of this very container behind it. */
function ownFile<T>(log: RunningLog, folder: string, work: (path: string) => Promise<T>): Promise<T> {
  const { path, containerId } = log;
  return onLogFile({ folder, directory: dirname(path), name: basename(path), containerIds: [containerId] }, work);
}
