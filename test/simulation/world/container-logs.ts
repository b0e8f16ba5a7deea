// The logs of containers, as the runtime writes them: records in CRI's format, to the file that is open.
// Invariant: a file stays open under each name that it gets, until the runtime opens the log anew.

import { ContainerEventType, ContainerState } from "../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { Fault } from "../../fake-cri/fault.js";
import type { FakeContainer } from "../../fake-cri/state.js";
import { Inode } from "../disk/inode.js";
import { disk } from "../disk/machine-disk.js";
import { kernel } from "../kernel/kernel.js";
import type { LogLimits } from "./log-limits.js";
import { LogRun, nowNanos, timeText } from "./log-run.js";
import { LOGS } from "./machine-files.js";
import { podNameOf, type AllFacts } from "./pod-facts.js";
import type { SimulatedRuntime } from "./runtime.js";

/** Between two records of a long line. */
const PART_MS = 20;
/** Lines that were read from the container before its log was opened anew come to the old file so late, at most. */
const LATE_MS = 150;
const LATE_LINES = 2;
/** To a file without a write for longer nothing comes late: followers leave it after two seconds (ADR 0018). */
const RECENT_MS = 1500;
/** A rotation that began before the end of a container goes on for so long, at most. */
const ROTATING_MS = 15_000;
/** Runs that ended so long ago are of no pod any more. */
const FORGOTTEN_MS = 3_600_000;

export class ContainerLogs {
  /** By container. */
  readonly runs = new Map<string, LogRun>();
  /** Hears of each name that goes from the folder of a log, also by a rename, up to a while after the run. */
  readonly onRemoved = new Set<(run: LogRun, name: string) => void>();
  /** Hears of each name that comes to the folder of a log. */
  readonly onCreated = new Set<(run: LogRun, name: string) => void>();
  /** Hears of each log that was opened anew. */
  readonly onReopened = new Set<(run: LogRun) => void>();

  constructor(
    private readonly runtime: SimulatedRuntime,
    private readonly facts: AllFacts,
    private readonly limits: LogLimits,
  ) {
    runtime.settings.reopenLog = ({ status }) => this.reopen(status.id);
    runtime.state.eventListeners.add(({ containerId, containerEventType: type }) => {
      const container = runtime.state.containers.get(containerId);
      if (type === ContainerEventType.CONTAINER_STARTED_EVENT && container !== undefined) this.started(container);
      if (type === ContainerEventType.CONTAINER_STOPPED_EVENT) this.ended(containerId);
    });
    if (limits.isRuntimeWriting === true) runtime.onUp.add(() => this.restarted());
    this.watch();
  }

  /** Power is lost. The containers have ended before. */
  reboot(): void {
    for (const run of this.runs.values()) run.isTorn = true;
    this.watch();
  }

  /** Runs whose container is there, in the order of their starts. */
  known(): LogRun[] {
    return [...this.runs.values()].filter(({ id }) => this.runtime.state.containers.has(id));
  }

  /** A crash of the machine ends all watches. */
  private watch(): void {
    disk.tree.watchers.add((directory, name, kind) => {
      if (kind !== "removed" && kind !== "created") return;
      const number = /^(\d+)\.log/.exec(name)?.[1];
      if (number === undefined) return;
      const run = this.known().findLast(
        (one) =>
          one.attempt === Number(number) &&
          folderOf(one) === directory &&
          kernel.monotonic - (one.endedAt ?? kernel.monotonic) < ROTATING_MS,
      );
      if (run === undefined) return;
      for (const listener of kind === "removed" ? this.onRemoved : this.onCreated) listener(run, name);
    });
  }

  private started(container: FakeContainer): void {
    const { labels, metadata } = container.config;
    const script = this.facts.pods.get(podNameOf(labels))?.shape.logs?.[metadata?.name ?? ""];
    const run = new LogRun(container, script);
    for (const { id, endedAt = Infinity } of this.runs.values())
      if (kernel.monotonic - endedAt > FORGOTTEN_MS) this.runs.delete(id);
    this.runs.set(run.id, run);
    run.inode = openLog(run);
    this.write(run);
    if (script !== undefined) this.next(run, script.everyMs, 0);
  }

  private ended(id: string): void {
    const run = this.runs.get(id);
    if (run === undefined || run.endedAt !== undefined) return;
    while (run.waiting.length > 0) this.writeWaiting(run);
    if (!this.isBlocked) this.write(run);
    while (run.waiting.length > 0) this.writeWaiting(run);
    run.endedAt = kernel.monotonic;
    if (run.inode !== undefined) disk.tree.tellFile(run.inode, "closed");
  }

  /** Writes go on after `ms`. */
  private next(run: LogRun, ms: number, writes: number): void {
    kernel.after(kernel.world, ms, () => {
      if (run.endedAt !== undefined) return;
      const { everyMs, lines, silentMs, writes: most } = run.script;
      if (this.isBlocked) {
        this.next(run, everyMs, writes);
        return;
      }
      for (let line = 0; line < lines && run.waiting.length === 0; line++) this.write(run);
      if (writes + 1 >= most) this.next(run, silentMs, 0);
      else this.next(run, everyMs, writes + 1);
    });
  }

  /** The container waits for a runtime that does not read what it writes. */
  private get isBlocked(): boolean {
    return this.limits.isRuntimeWriting === true && !this.runtime.isUp;
  }

  /** As containerd, which opens the logs of all containers again. */
  private restarted(): void {
    for (const run of this.runs.values()) {
      if (run.endedAt !== undefined) continue;
      const old = run.inode;
      run.inode = openLog(run) ?? old;
      if (old !== undefined && old !== run.inode) disk.tree.tellFile(old, "closed");
    }
  }

  /** A line; its records follow each other after a while. */
  private write(run: LogRun): void {
    if (run.inode === undefined) return;
    const [first = "", ...rest] = run.begin();
    if (!this.append(run, run.inode, first)) {
      // A full disk takes nothing of it.
      run.lines.pop();
      return;
    }
    run.waiting.push(...rest);
    if (rest.length === 0) run.done(run.lines.length);
    else this.writeRest(run);
  }

  private writeRest(run: LogRun): void {
    kernel.after(kernel.world, PART_MS, () => {
      if (run.waiting.length === 0) return;
      if (!this.isBlocked) this.writeWaiting(run);
      if (run.waiting.length > 0) this.writeRest(run);
    });
  }

  private writeWaiting(run: LogRun): void {
    const record = run.waiting.shift();
    if (record === undefined) return;
    // containerd and conmon go on with the next record.
    if (!this.append(run, run.inode, record)) run.isTorn = true;
    if (run.waiting.length === 0) run.done(run.lines.length);
  }

  private append(run: LogRun, inode: Inode | undefined, record: string): boolean {
    const bytes = Buffer.from(`${timeText(nowNanos())} ${record}`);
    if (inode === undefined || !disk.tree.append(inode, bytes)) return false;
    run.add(bytes.length);
    return true;
  }

  /** @throws Fault if there is no room for a file */
  private reopen(id: string): void {
    const run = this.runs.get(id);
    const container = this.runtime.state.containers.get(id);
    if (run === undefined || container?.status.state !== ContainerState.CONTAINER_RUNNING) return;
    const opened = openLog(run);
    if (opened === undefined) throw new Fault("UNKNOWN", `failed to open log file "${run.path}"`);
    const old = run.inode;
    run.inode = opened;
    if (old !== opened) this.writeLate(run, old);
    for (const listener of this.onReopened) listener(run);
  }

  /** Some lines come to the old file, and then it is closed. */
  private writeLate(run: LogRun, old: Inode | undefined): void {
    if (old === undefined) return;
    const late: { number: number; records: string[] }[] = [];
    const { atMs = -Infinity } = run.lines.at(-1) ?? {};
    const isRecent = kernel.monotonic - atMs < RECENT_MS;
    if (run.waiting.length === 0 && run.lines.length % 2 === 0 && run.script.lines > 0 && isRecent) {
      for (let line = 0; line < LATE_LINES; line++) late.push({ records: run.begin(), number: run.lines.length });
    }
    kernel.after(kernel.world, (LATE_MS * (run.lines.length % 10)) / 10, () => {
      if (!run.isTorn) {
        for (const { number, records } of late) {
          run.isTorn ||= !records.every((record) => this.append(run, old, record));
          run.done(number);
        }
      }
      disk.tree.tellFile(old, "closed");
    });
  }
}

/** The folder of a run's log; undefined: it is gone. */
export function folderOf({ folder }: LogRun): Inode | undefined {
  return folder.startsWith(LOGS) && disk.tree.exists(folder) ? disk.tree.lookUp(folder, "open") : undefined;
}

/** As O_CREAT and O_APPEND. Undefined: the folder is gone, or nothing can be made there. */
function openLog({ path, folder }: LogRun): Inode | undefined {
  if (!disk.tree.exists(folder)) return undefined;
  if (disk.tree.exists(path)) return disk.tree.lookUp(path, "open");
  const inode = new Inode("file", 0o640, disk.tree.lookUp(folder, "open").fileSystem);
  if ((disk.tree.roomOn?.(inode.fileSystem)?.freeInodes ?? 1) < 1) return undefined;
  disk.tree.make(path, inode, "open");
  return inode;
}
