// Shared by all supervised threads: the board, the restart rules, and the reaction when one is not restarted again (docs/adr/0040).
// Invariant: a thread that clients, pods or the API server can reach never ends the process, however often it fails.
import type { Clock } from "../../shared/clock/clock.js";
import { CodeLoads } from "../../shared/code/v8-flags.js";
import type { ThreadExit } from "../../shared/contracts/thread.js";
import { droppedLines, type Logger } from "../../shared/log/logger.js";
import { BoardWriter, createBoard, type BoardBuffers } from "../../shared/queue/board.js";
import type { UncaughtOrigin } from "../../shared/thread/uncaught.js";
import { keepStamping } from "../../shared/thread/stamper.js";
import type { TracingConfig } from "../../shared/tracing/tracing-config.js";
import type { ThreadMetrics } from "../../shared/metrics/threads.js";
import type { TableOptions, ThreadHost } from "./thread-host.js";
import { rowOf, WORKERS, type WorkerName } from "./thread-table.js";
import { tracesIn } from "./traced-threads.js";

export const THREADS: readonly ThreadName[] = ["main", ...WORKERS];
export type ThreadName = "main" | WorkerName;

const STALL_MS = 10_000;
const RESTART = { baseMs: 100, maxMs: 10_000, jitter: 0.2, healthyAfterMs: 60_000 };
/** Without these threads no pod is synced. After so many restarts without a healthy run, a new process is the remedy. */
const ESSENTIAL_RESTARTS = 10;

/** Threads whose loss the process can't outlive; all others are restarted for ever. */
export const ESSENTIAL: ReadonlySet<string> = new Set<ThreadName>([
  "main",
  ...WORKERS.filter((name) => rowOf(name).essential === true),
]);

export class ThreadContext implements ThreadHost<WorkerName> {
  readonly board: BoardBuffers;
  readonly mainSlot: BoardWriter;

  constructor(
    private readonly clock: Clock,
    private readonly log: Logger,
    private readonly metrics: ThreadMetrics,
    /** A thread will not run again: the process must exit, so that systemd starts it again. */
    private readonly onGiveUp: (error: Error) => void,
    /** Absent: no thread traces. */
    private readonly tracing?: TracingConfig,
    /** Gate NativeHistograms. */
    private readonly nativeHistograms = false,
    private readonly loads = new CodeLoads(),
  ) {
    metrics.watchDroppedLines(() => droppedLines(log));
    this.board = createBoard(THREADS);
    this.mainSlot = new BoardWriter(this.board, "main", clock);
    this.mainSlot.setState("running");
    keepStamping(this.mainSlot, clock);
  }

  /** The options that a thread is supervised with, by its row. */
  readonly common = (name: WorkerName): TableOptions => {
    const { heapMiB, ringBytes, stallMs = STALL_MS, folder = name } = rowOf(name);
    const tracing = tracesIn(name, this.tracing);
    return {
      name,
      entry: new URL(`../../workers/${folder}/index.js`, import.meta.url),
      heapMiB,
      ringCapacities: ringBytes,
      readyDeadlineMs: 10_000,
      stallAfterMs: stallMs,
      restart: { ...RESTART, maxRestarts: ESSENTIAL.has(name) ? ESSENTIAL_RESTARTS : Infinity },
      onGiveUp: (error: Error) => this.onGiveUp(error),
      loading: () => this.loads.begin(),
      onUncaught: (origin: UncaughtOrigin) => this.metrics.uncaught.inc({ thread: name, origin }),
      log: this.log,
      clock: this.clock,
      board: this.board,
      ...(tracing && { tracing }),
      ...(this.nativeHistograms && { nativeHistograms: true }),
    };
  };

  uncaughtInMain(origin: UncaughtOrigin): void {
    this.metrics.uncaught.inc({ thread: "main", origin });
  }

  readonly exited = (exit: ThreadExit): void => {
    if (exit.cause !== "drained") this.metrics.restarts.inc({ thread: exit.thread, reason: exit.cause });
  };
}
