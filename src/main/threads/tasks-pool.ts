// The piscina pool for short CPU-heavy jobs that must not run on main and need no thread of their own. Every job has a
// deadline. A job that passes its deadline loses its thread: piscina terminates the thread and starts another. So a
// hung or hostile job costs only its own caller an error.

import { Piscina } from "piscina";
import type { Clock } from "../../shared/base/clock/clock.js";
import { messageOf } from "../../shared/base/errors/thrown.js";
import type { TaskFunctions, TaskName } from "../../shared/contracts/tasks.js";
import { YOUNG_GENERATION_MIB } from "../../shared/io/code/v8-flags.js";
import type { Logger } from "../../shared/telemetry/log/logger.js";
import { PoolThreads } from "./pool-threads.js";
import { TaskSlots } from "./task-slots.js";
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
  return new PiscinaTasks(options);
}

class PiscinaTasks implements TasksPool {
  /** Jobs queue here: deadlines start with the slot, and piscina does not report when a job leaves its queue. */
  private readonly slots: TaskSlots;
  private readonly turns = new Turns();
  private readonly pool: Piscina;
  private readonly threads: PoolThreads;
  private readonly counters = { completed: 0, deadlines: 0, threadFailures: 0 };

  constructor(private readonly options: TasksPoolOptions) {
    const { entry = new URL("../../workers/tasks/index.js", import.meta.url), maxThreads = 2, log } = options;
    this.slots = new TaskSlots(maxThreads);
    const pool = new Piscina({
      filename: entry.href,
      minThreads: options.minThreads ?? 1,
      maxThreads,
      // A thread that was added for a burst or beside a slow job ends again: each costs memory.
      idleTimeout: options.idleMs ?? IDLE_MS,
      resourceLimits: { maxOldGenerationSizeMb: options.heapMiB, maxYoungGenerationSizeMb: YOUNG_GENERATION_MIB },
      recordTiming: false,
    });
    this.pool = pool;
    this.threads = new PoolThreads(() => pool.threads);
    // Piscina reports a thread's death to its job and here as well; without a listener it would end the process.
    pool.on("error", (error: unknown) => log.warn({ err: error }, "a tasks thread failed; the pool replaces it"));
    // The first jobs of a start find their thread loaded, though none is kept.
    if (options.minThreads === 0) warmUp(pool, log);
  }

  run<K extends TaskName>(
    name: K,
    job: TaskFunctions[K]["job"],
    options: RunOptions,
  ): Promise<TaskFunctions[K]["result"]> {
    const { turnOf, signal } = options;
    const now = () => this.runNow(name, job, options);
    return turnOf === undefined ? now() : this.turns.take({ kind: name, owner: turnOf }, now, signal);
  }

  stats(): TasksPoolStats {
    return {
      ...this.counters,
      threads: this.pool.threads.length,
      queued: this.slots.waiting + this.turns.waiting,
      stuck: this.threads.stuck,
    };
  }

  async close(): Promise<void> {
    const closed = new TaskThreadError("queue", new Error("the tasks pool was closed"));
    this.turns.close(closed);
    this.slots.close(closed);
    await this.pool.destroy();
  }

  private async runNow<K extends TaskName>(
    name: K,
    job: TaskFunctions[K]["job"],
    { deadlineMs, signal }: RunOptions,
  ): Promise<TaskFunctions[K]["result"]> {
    const { slots, threads, counters } = this;
    await slots.acquire(signal);
    const abort = new AbortController();
    const late = new TaskDeadlineError(name, deadlineMs);
    const timer = this.options.clock.after(deadlineMs, () => abort.abort(late));
    const onAbort = (): void => abort.abort();
    signal?.addEventListener("abort", onAbort, { once: true });
    try {
      // The signal may have aborted while the slot was handed over and no listener was registered.
      signal?.throwIfAborted();
      threads.track();
      if (threads.stuck >= MAX_STUCK_THREADS) throw new TasksPoolExhaustedError(name, threads.stuck);
      const running = this.pool.run(job, { name, signal: abort.signal, transferList: transferables(job) });
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
  }
}

function warmUp(pool: Piscina, log: Logger): void {
  pool.run({}, { name: "awake" }).catch((error: unknown) => {
    log.info({ err: error }, "cannot start a tasks thread before its first job");
  });
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
