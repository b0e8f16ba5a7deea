// Shared by all supervised threads: the board, the restart rules, and the reaction when one is not restarted again
// (docs/adr/0040).
// Invariant: a thread that clients, pods or the API server can reach never ends the process, however often it fails.

import type { Clock } from "../../shared/base/clock/clock.js";
import { BoardWriter, createBoard, type BoardBuffers } from "../../shared/base/queue/board.js";
import type { ThreadExit } from "../../shared/contracts/thread.js";
import { CodeLoads } from "../../shared/io/code/v8-flags.js";
import { droppedLines, type Logger } from "../../shared/telemetry/log/logger.js";
import type { ThreadMetrics } from "../../shared/telemetry/metrics/threads.js";
import type { TracingConfig } from "../../shared/telemetry/tracing/tracing-config.js";
import { keepStamping } from "../../shared/thread/stamper.js";
import type { UncaughtOrigin } from "../../shared/thread/uncaught.js";
import type { SpawnWorker } from "./spawn-worker.js";
import type { TableOptions, ThreadHost } from "./thread-host.js";
import { rowOf, WORKERS, type WorkerName } from "./thread-table.js";
import { tracesIn } from "./traced-threads.js";

export const THREADS: readonly ThreadName[] = ["main", ...WORKERS];
export type ThreadName = "main" | WorkerName;

const STALL_MS = 10_000;
/**
 * A start takes a tenth of a second of processor time. A machine of which a thread gets a hundredth is busy, and a
 * second start only adds to that; a start that really hangs (a disk that does not respond) hangs again.
 */
const READY_DEADLINE_MS = 30_000;
const RESTART = { baseMs: 100, maxMs: 10_000, jitter: 0.2, healthyAfterMs: 60_000 };
/**
 * Without these threads no pod is synced. After so many restarts without a healthy run, a new process is the remedy.
 */
const ESSENTIAL_RESTARTS = 10;

/** Threads whose loss the process can't outlive; all others are restarted for ever. */
export const ESSENTIAL: ReadonlySet<string> = new Set<ThreadName>([
  "main",
  ...WORKERS.filter((name) => rowOf(name).essential === true),
]);

export interface ThreadContextOptions {
  clock: Clock;
  log: Logger;
  metrics: ThreadMetrics;
  spawn: SpawnWorker;
  /** A thread will not run again: the process must exit, so that systemd starts it again. */
  onGiveUp: (error: Error) => void;
  /** Absent: no thread traces. */
  tracing?: TracingConfig | undefined;
  /** Gate NativeHistograms; off by default. */
  nativeHistograms?: boolean;
  /** Code that is being loaded; absent: its end is not awaited. */
  loads?: CodeLoads;
}

export class ThreadContext implements ThreadHost<WorkerName> {
  readonly board: BoardBuffers;
  readonly mainSlot: BoardWriter;
  private readonly loads: CodeLoads;
  private readonly guests = new Map<WorkerName, SpawnWorker>();
  private readonly endStamps: () => void;

  constructor(private readonly options: ThreadContextOptions) {
    const { clock, log, metrics } = options;
    metrics.watchDroppedLines(() => droppedLines(log));
    this.loads = options.loads ?? new CodeLoads();
    this.board = createBoard(THREADS);
    this.mainSlot = new BoardWriter(this.board, "main", clock);
    this.mainSlot.setState("running");
    this.endStamps = keepStamping(this.mainSlot, clock);
  }

  /** The options that a thread is supervised with, by its row. */
  readonly common = (name: WorkerName): TableOptions => {
    const { heapMiB, ringBytes, stallMs = STALL_MS, folder = name } = rowOf(name);
    const { clock, log, metrics, spawn, onGiveUp, tracing: config, nativeHistograms = false } = this.options;
    const tracing = tracesIn(name, config);
    return {
      name,
      entry: new URL(`../../workers/${folder}/index.js`, import.meta.url),
      heapMiB,
      ringCapacities: ringBytes,
      readyDeadlineMs: READY_DEADLINE_MS,
      stallAfterMs: stallMs,
      restart: { ...RESTART, maxRestarts: ESSENTIAL.has(name) ? ESSENTIAL_RESTARTS : Infinity },
      onGiveUp: (error: Error) => onGiveUp(error),
      loading: () => this.loads.begin(),
      onUncaught: (origin: UncaughtOrigin) => metrics.uncaught.inc({ thread: name, origin }),
      log,
      clock,
      spawn: this.guests.get(name) ?? spawn,
      board: this.board,
      tracing,
      nativeHistograms: nativeHistograms ? true : undefined,
    };
  };

  /** The worker gets no thread of its own. Call before it is made. */
  setGuest(name: WorkerName, spawn: SpawnWorker): void {
    this.guests.set(name, spawn);
  }

  /** Main stops: its slot is stamped no more. */
  stop(): void {
    this.endStamps();
  }

  uncaughtInMain(origin: UncaughtOrigin): void {
    this.options.metrics.uncaught.inc({ thread: "main", origin });
  }

  readonly exited = (exit: ThreadExit): void => {
    if (exit.cause !== "drained") this.options.metrics.restarts.inc({ thread: exit.thread, reason: exit.cause });
  };
}
