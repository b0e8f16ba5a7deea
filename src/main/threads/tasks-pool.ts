// The piscina pool for short CPU-heavy jobs that must not run on main and need no thread of their own. Every job has a
// deadline. A job that passes its deadline loses its thread: piscina terminates the thread and starts another. So a
// hung or hostile job costs only its own caller an error.

import type { Worker } from "node:worker_threads";
import { Piscina } from "piscina";
import type { Clock } from "../../shared/base/clock/clock.js";
import { messageOf, abortReason } from "../../shared/base/errors/thrown.js";
import type { TaskFunctions, TaskName } from "../../shared/contracts/tasks.js";
import { YOUNG_GENERATION_MIB } from "../../shared/io/code/v8-flags.js";
import type { Logger } from "../../shared/telemetry/log/logger.js";
import { Turns } from "./turns.js";

/** The job ran longer than its caller allowed; its thread was ended. */
export class TaskDeadlineError extends Error {
  override readonly name = "TaskDeadlineError";
  constructor(
    readonly task: string,
    readonly deadlineMs: number,
  ) {
    super(`task ${task} did not finish within ${deadlineMs} ms; its thread was terminated`);
  }
}

/** The job's thread died under it (out of heap, process.exit, crash). */
export class TaskThreadError extends Error {
  override readonly name = "TaskThreadError";
  constructor(
    readonly task: string,
    cause: unknown,
  ) {
    super(`task ${task} failed with its thread: ${messageOf(cause)}`, { cause });
  }
}

/** So many threads of the pool hang where they can't be ended that no further job is started. */
class TasksPoolExhaustedError extends Error {
  override readonly name = "TasksPoolExhaustedError";
  constructor(
    readonly task: string,
    readonly stuck: number,
  ) {
    super(
      `task ${task} was not started: ${stuck} threads of the tasks pool hang in a system call and cannot be terminated; ` +
        `check for volumes and disks that do not respond`,
    );
  }
}

export interface TasksPoolOptions {
  /**
   * Threads that stay; default 1. With 0 the first thread starts at once, too, and ends when it has had no job for a
   * while.
   */
  minThreads?: number;
  maxThreads?: number;
  /** Idle time after which a thread above minThreads ends, ms; default 10,000. */
  idleMs?: number;
  /** Old-space limit of each thread, MiB. */
  heapMiB: number;
  log: Logger;
  clock: Clock;
  /** The pool threads' module; default the built workers/tasks/index.js. Tests pass their own. */
  entry?: URL;
}

interface RunOptions {
  /** Milliseconds from the moment a thread takes the job: a slow job before it in the queue does not count. */
  deadlineMs: number;
  signal?: AbortSignal;
  /**
   * A pod's UID, for walks over its files: all pods' walks have one thread together. Functions take turns, and pods
   * within each.
   */
  turnOf?: string;
}

interface TasksPoolStats {
  threads: number;
  queued: number;
  completed: number;
  deadlines: number;
  threadFailures: number;
  /** Threads that were ended and are still there: they hang in a call to the kernel. */
  stuck: number;
}

export interface TasksPool {
  /**
   * Runs one job; rejects with TaskDeadlineError, TaskThreadError, TasksPoolExhaustedError, the signal's reason or the
   * function's own error.
   */
  run<K extends TaskName>(
    name: K,
    job: TaskFunctions[K]["job"],
    options: RunOptions,
  ): Promise<TaskFunctions[K]["result"]>;
  stats(): TasksPoolStats;
  /** Ends all threads; pending jobs are rejected. */
  close(): Promise<void>;
}

/** A thread of 15 MiB is kept no longer for a job that may never come. */
const IDLE_MS = 10_000;

/** Threads that may hang beyond their end; each holds its memory until the kernel lets it go. */
const MAX_STUCK_THREADS = 4;

/** From this size on, a byte array's buffer is moved to the thread instead of copied. */
const TRANSFER_BYTES = 64 * 1024;

export function createTasksPool(options: TasksPoolOptions): TasksPool {
  const { clock, log } = options;
  const entry = options.entry ?? new URL("../../workers/tasks/index.js", import.meta.url);
  const maxThreads = options.maxThreads ?? 2;
  // Jobs queue here, because deadlines start with the slot, and piscina does not report when a job leaves its queue.
  const slots = new Slots(maxThreads);
  const turns = new Turns();
  const pool = new Piscina({
    filename: entry.href,
    minThreads: options.minThreads ?? 1,
    maxThreads,
    // A thread that was added for a burst or beside a slow job ends again: each costs memory.
    idleTimeout: options.idleMs ?? IDLE_MS,
    resourceLimits: { maxOldGenerationSizeMb: options.heapMiB, maxYoungGenerationSizeMb: YOUNG_GENERATION_MIB },
    recordTiming: false,
  });
  const threads = new ThreadWatch(() => pool.threads);
  const counters = { completed: 0, deadlines: 0, threadFailures: 0 };
  // Piscina reports a thread's death to its job and here as well; without a listener it would end the process.
  pool.on("error", (error: unknown) => log.warn({ err: error }, "a tasks thread failed; the pool replaces it"));
  // The first jobs of a start find their thread loaded, though none is kept.
  if (options.minThreads === 0) warmUp(pool, log);

  const runNow = async <K extends TaskName>(
    name: K,
    job: TaskFunctions[K]["job"],
    { deadlineMs, signal }: RunOptions,
  ): Promise<TaskFunctions[K]["result"]> => {
    await slots.acquire(signal);
    const abort = new AbortController();
    const late = new TaskDeadlineError(name, deadlineMs);
    const timer = clock.after(deadlineMs, () => abort.abort(late));
    const onAbort = (): void => abort.abort();
    signal?.addEventListener("abort", onAbort, { once: true });
    try {
      // The signal may have aborted while the slot was handed over and no listener was registered.
      signal?.throwIfAborted();
      threads.track();
      if (threads.stuck >= MAX_STUCK_THREADS) throw new TasksPoolExhaustedError(name, threads.stuck);
      const running = pool.run(job, { name, signal: abort.signal, transferList: transferables(job) });
      threads.track();
      const result = (await running) as TaskFunctions[K]["result"];
      counters.completed++;
      return result;
    } catch (error) {
      if (abort.signal.reason === late) {
        counters.deadlines++;
        throw late;
      }
      signal?.throwIfAborted();
      if (!isThreadFailure(error)) throw error;
      counters.threadFailures++;
      throw new TaskThreadError(name, error);
    } finally {
      timer.cancel();
      signal?.removeEventListener("abort", onAbort);
      slots.release();
    }
  };

  const run: TasksPool["run"] = (name, job, runOptions) => {
    const { turnOf, signal } = runOptions;
    const now = () => runNow(name, job, runOptions);
    return turnOf === undefined ? now() : turns.take({ kind: name, owner: turnOf }, now, signal);
  };

  return {
    run,
    stats: () => ({
      ...counters,
      threads: pool.threads.length,
      queued: slots.waiting + turns.waiting,
      stuck: threads.stuck,
    }),
    close: async () => {
      const closed = new TaskThreadError("queue", new Error("the tasks pool was closed"));
      turns.close(closed);
      slots.close(closed);
      await pool.destroy();
    },
  };
}

function warmUp(pool: Piscina, log: Logger): void {
  pool.run({}, { name: "awake" }).catch((error: unknown) => {
    log.info({ err: error }, "cannot start a tasks thread before its first job");
  });
}

/**
 * Which threads of the pool were ended but are still there. A thread that runs JavaScript ends at once; one in a call
 * to the kernel ends when that call returns, if ever.
 */
class ThreadWatch {
  private readonly alive = new Set<Worker>();

  constructor(private readonly current: () => readonly Worker[]) {}

  /** Call before and after each job is started: piscina makes and ends threads in between. */
  track(): void {
    for (const thread of this.current()) {
      if (this.alive.has(thread)) continue;
      this.alive.add(thread);
      thread.once("exit", () => this.alive.delete(thread));
    }
  }

  get stuck(): number {
    const current = new Set(this.current());
    let stuck = 0;
    for (const thread of this.alive) if (!current.has(thread)) stuck++;
    return stuck;
  }
}

/** First come, first served; a waiter leaves when its signal aborts or the pool closes. */
class Slots {
  private readonly queue = new Set<{ start: () => void; fail: (reason: Error) => void }>();
  private closed: Error | undefined;

  constructor(private free: number) {}

  get waiting(): number {
    return this.queue.size;
  }

  async acquire(signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    if (this.closed !== undefined) throw this.closed;
    if (this.free > 0) {
      this.free--;
      return;
    }
    let onAbort = (): void => undefined;
    try {
      await new Promise<void>((start, fail) => {
        const waiter = { start, fail };
        onAbort = () => {
          if (this.queue.delete(waiter)) fail(abortReason(signal));
        };
        this.queue.add(waiter);
        signal?.addEventListener("abort", onAbort, { once: true });
      });
    } finally {
      signal?.removeEventListener("abort", onAbort);
    }
  }

  release(): void {
    const [next] = this.queue;
    if (next === undefined) {
      this.free++;
      return;
    }
    this.queue.delete(next);
    next.start();
  }

  close(reason: Error): void {
    this.closed = reason;
    for (const waiter of this.queue) waiter.fail(reason);
    this.queue.clear();
  }
}

function transferables(job: object): ArrayBuffer[] {
  return Object.values(job).flatMap((value: unknown) =>
    value instanceof Uint8Array &&
    value.buffer instanceof ArrayBuffer &&
    value.byteLength >= TRANSFER_BYTES &&
    value.byteLength === value.buffer.byteLength
      ? [value.buffer]
      : [],
  );
}

function isThreadFailure(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = "code" in error ? error.code : undefined;
  return code === "ERR_WORKER_OUT_OF_MEMORY" || /worker exited|Terminating worker/i.test(error.message);
}
