// Keeps one dedicated worker thread running: starts, watches, restarts and stops it (docs/adr/0004).
// Invariant: at most one generation runs; after an exit the supervisor rejects every pending call before it calls
// onExit; it calls onRunning at each start with fresh rings, and the owner sends its whole snapshot again.

import type { Clock, Timer } from "../../shared/base/clock/clock.js";
import type { ThreadFault } from "../../shared/base/faults/thread-fault.js";
import { BoardReader, BoardWriter, type BoardBuffers, type ThreadState } from "../../shared/base/queue/board.js";
import type { RingBuffers } from "../../shared/base/queue/ring.js";
import type { ExitCause, ThreadExit } from "../../shared/contracts/thread.js";
import { loggingFor, type Logger } from "../../shared/telemetry/log/logger.js";
import type { TracingConfig } from "../../shared/telemetry/tracing/tracing-config.js";
import { serializeError, ThreadExitedError } from "../../shared/thread/errors.js";
import { RemoteCalls, type Remote } from "../../shared/thread/remote-calls.js";
import type { UncaughtOrigin } from "../../shared/thread/uncaught.js";
import { ThreadGaveUpError, ThreadStoppedError } from "./errors.js";
import { ThreadGeneration } from "./generation.js";
import { RestartPolicy, type RestartOptions } from "./restart-policy.js";
import type { SpawnWorker } from "./spawn-worker.js";
import { watchStalls } from "./stall-watch.js";

export interface SuperviseOptions<Control extends object, Init, Upcalls extends object> {
  /** Must have a slot on the board. */
  name: string;
  /** The worker's compiled index.js, e.g. new URL("../../workers/pleg/index.js", import.meta.url). */
  entry: URL;
  /** Asked at every start; must be structured-cloneable. */
  init: () => Init;
  /** The functions of main that the worker may call. */
  upcalls?: Upcalls;
  /** Bytes; default 4 MiB each. */
  ringCapacities?: { inbox?: number; outbox?: number };
  /** Limit of the worker's old generation. */
  heapMiB: number;
  /** Deadline of the first start; doubled, up to eight times, while starts in a row miss it. */
  readyDeadlineMs: number;
  /** A board stamp older than this ends the thread. At least a few STAMP_PERIOD_MS. */
  stallAfterMs: number;
  /** Default deadline of `call`, ms. */
  callDeadlineMs?: number;
  /** Time limit of stop() for draining, ms. Default 5000. */
  drainDeadlineMs?: number;
  restart: RestartOptions;
  /**
   * After every (re)start, with `call`, `inbox` and `outbox` of the new generation; a rejection restarts the thread.
   */
  onRunning: (thread: SupervisedThread<Control>) => void | Promise<void>;
  onExit?: (exit: ThreadExit) => void;
  /** Called at each start; what it returns, when the thread has loaded its code or has exited. */
  loading?: () => () => void;
  /** The thread outlived an error that no caller caught. */
  onUncaught?: (origin: UncaughtOrigin) => void;
  /** The thread will not be started again. */
  onGiveUp: (reason: ThreadGaveUpError) => void;
  log: Logger;
  clock: Clock;
  board: BoardBuffers;
  spawn: SpawnWorker;
  /** Absent: the thread does not trace. */
  tracing?: TracingConfig | undefined;
  /** Gate NativeHistograms. */
  nativeHistograms?: boolean | undefined;
}

const DEFAULT_DRAIN_MS = 5000;
/** A machine too busy for one start is busier still with restarts: each late one gets twice the time. */
const MAX_LATE_DOUBLINGS = 3;
/** Exits that say nothing about the thread on a machine without processor time. */
const LATE: ReadonlySet<ExitCause> = new Set<ExitCause>(["not-ready", "stalled"]);

export function superviseThread<Control extends object, Init = undefined, Upcalls extends object = object>(
  options: SuperviseOptions<Control, Init, Upcalls>,
): SupervisedThread<Control> {
  return new SupervisedThread<Control>(options);
}

export class SupervisedThread<Control extends object> {
  readonly name: string;
  private readonly calls: RemoteCalls<Control>;
  private readonly slot: BoardWriter;
  private readonly policy: RestartPolicy;
  protected current: ThreadGeneration | undefined;
  private stateNow: ThreadState = "exited";
  private generationNow = 0;
  private restartsSoFar = 0;
  /** Starts in a row that missed their deadline. */
  private lateStarts = 0;
  private runningSince: number | undefined;
  private restartTimer: Timer | undefined;
  private endStallWatch: (() => void) | undefined;
  private stopping: Promise<void> | undefined;
  /** The thread was told to end, or has ended, until it is woken. */
  private resting = false;
  private first: PromiseWithResolvers | undefined;
  private readonly firstTry = withResolvers();
  private last: ThreadExit | undefined;
  private loaded: (() => void) | undefined;

  constructor(protected readonly options: SuperviseOptions<Control, unknown, object>) {
    this.name = options.name;
    this.calls = new RemoteCalls<Control>(options.name, options.clock, options.callDeadlineMs);
    this.slot = new BoardWriter(options.board, options.name, options.clock);
    this.slot.setState("exited");
    this.policy = new RestartPolicy(options.restart);
  }

  /**
   * The worker's control object; every call has a deadline and rejects with ThreadExitedError when the thread exits.
   */
  get call(): Remote<Control> {
    return this.calls.call;
  }

  /** `call` with another deadline, ms. */
  within(deadlineMs: number): Remote<Control> {
    return this.calls.within(deadlineMs);
  }

  /** main → worker, of the current generation. */
  get inbox(): RingBuffers {
    return this.generationOrThrow().inbox;
  }

  /** worker → main, of the current generation. */
  get outbox(): RingBuffers {
    return this.generationOrThrow().outbox;
  }

  get state(): ThreadState {
    return this.stateNow;
  }

  /** From 1; 0 before start(). */
  get generation(): number {
    return this.generationNow;
  }

  /** Restarts since the supervisor started. */
  get restarts(): number {
    return this.restartsSoFar;
  }

  get lastExit(): ThreadExit | undefined {
    return this.last;
  }

  /** Resolves when the thread runs for the first time; rejects with ThreadGaveUpError or ThreadStoppedError. */
  start(): Promise<void> {
    if (this.first !== undefined) return this.first.promise;
    this.first = withResolvers();
    this.endStallWatch = watchStalls({
      thread: this.name,
      stallAfterMs: this.options.stallAfterMs,
      board: new BoardReader(this.options.board, this.options.clock),
      clock: this.options.clock,
      watching: () => this.stateNow === "ready" || this.stateNow === "running" || this.stateNow === "draining",
      onStall: (age) => this.current?.kill("stalled", `its event loop has not turned for ${Math.round(age)} ms`),
    });
    this.launch();
    return this.first.promise;
  }

  /** Starts the thread; the caller does not wait for it. */
  startInBackground(): void {
    this.start().catch((error: unknown) => {
      if (error instanceof ThreadStoppedError) return;
      this.options.log.error({ err: error }, `the ${this.name} thread did not start`);
    });
  }

  /**
   * Starts the thread; resolves when it runs or its first start failed, and the supervisor goes on with it. Rejects as
   * start() does.
   */
  async startTried(): Promise<void> {
    this.start().then(this.firstTry.resolve, this.firstTry.reject);
    await this.firstTry.promise;
  }

  /** Kills the thread as a crash would; it is restarted. Resolves after the exit of this generation. */
  async terminate(): Promise<void> {
    this.current?.kill("terminated", "terminated on request");
    await this.current?.gone();
  }

  /** Has the thread break itself; only the fault hook orders this. */
  commitFault(fault: ThreadFault): void {
    this.current?.post({ kind: "fault", fault });
  }

  /** Orderly end: drain, then kill at the deadline. Never restarts. Idempotent. */
  stop(): Promise<void> {
    this.stopping ??= this.end();
    return this.stopping;
  }

  /** Ends a running thread in order; it is not restarted before `wake`. */
  protected async rest(): Promise<void> {
    if (this.stateNow !== "running" || this.stopping !== undefined || this.current === undefined) return;
    this.resting = true;
    this.enter("draining");
    await this.current.drain(this.options.drainDeadlineMs ?? DEFAULT_DRAIN_MS);
  }

  /** Starts a thread that rests, or that was never started. Otherwise it runs or its supervisor starts it. */
  protected async wake(): Promise<void> {
    if (this.first === undefined) this.startInBackground();
    if (!this.resting) return;
    await this.current?.gone();
    // Another caller may have woken it, or it is being stopped.
    if (!this.isResting || this.stopping !== undefined) return;
    this.resting = false;
    this.launch();
  }

  /** An await has passed since the last look. */
  private get isResting(): boolean {
    return this.resting;
  }

  private async end(): Promise<void> {
    this.restartTimer?.cancel();
    if (this.current !== undefined) {
      this.enter("draining");
      await this.current.drain(this.options.drainDeadlineMs ?? DEFAULT_DRAIN_MS);
    }
    this.endStallWatch?.();
    this.calls.disconnect("it was stopped");
    this.first?.reject(new ThreadStoppedError(this.name));
  }

  private launch(): void {
    const { options, name } = this;
    this.generationNow++;
    this.runningSince = undefined;
    this.slot.reset(this.generationNow);
    this.enter("spawned");
    this.loaded = options.loading?.();
    try {
      const generation: ThreadGeneration = new ThreadGeneration({
        name,
        generation: this.generationNow,
        entry: options.entry,
        init: options.init(),
        upcalls: options.upcalls ?? {},
        ringCapacities: options.ringCapacities ?? {},
        heapMiB: options.heapMiB,
        readyDeadlineMs: options.readyDeadlineMs * 2 ** Math.min(this.lateStarts, MAX_LATE_DOUBLINGS),
        logging: loggingFor(options.log, name),
        tracing: options.tracing ? options.tracing : undefined,
        nativeHistograms: options.nativeHistograms === true ? true : undefined,
        board: options.board,
        clock: options.clock,
        spawn: options.spawn,
        onReady: () => {
          void this.onReady(generation);
        },
        onUncaught: (origin) => options.onUncaught?.(origin),
        onExit: (exit) => this.onExit(exit),
      });
      this.current = generation;
    } catch (thrown) {
      const error = serializeError(thrown);
      const reason = `could not be created: ${error.message}`;
      this.onExit({ thread: name, generation: this.generationNow, cause: "start-failed", code: 1, reason, error });
    }
  }

  private async onReady(generation: ThreadGeneration): Promise<void> {
    this.loaded?.();
    if (this.stateNow !== "spawned") return;
    this.enter("ready");
    this.calls.connect(generation.control, (error) => generation.messageLost(error));
    try {
      await this.options.onRunning(this);
    } catch (thrown) {
      const error = serializeError(thrown);
      generation.kill("snapshot-failed", `cannot send its snapshot: ${error.message}`, thrown);
      return;
    }
    // The thread may have died, or be stopping, while its owner sent the snapshot.
    if (this.current !== generation || this.stopping !== undefined) return;
    this.enter("running");
    generation.post({ kind: "running" });
    this.runningSince = this.options.clock.monotonic();
    this.lateStarts = 0;
    // After an orderly end it was woken, which is no news.
    const level = this.last?.cause === "drained" ? "debug" : "info";
    this.options.log[level]({ thread: this.name, generation: this.generationNow }, "thread running");
    this.first?.resolve();
  }

  private onExit(exit: ThreadExit): void {
    const ranForMs = this.runningSince === undefined ? 0 : this.options.clock.monotonic() - this.runningSince;
    this.current = undefined;
    this.loaded?.();
    this.last = exit;
    if (exit.cause === "not-ready") this.lateStarts++;
    this.enter(this.resting ? "resting" : "exited");
    this.calls.disconnect(`the thread exited: ${exit.reason}`);
    const level = exit.cause !== "drained" ? "error" : this.resting ? "debug" : "info";
    const { thread, generation, cause, code, error } = exit;
    this.options.log[level]({ thread, generation, cause, code, error }, `thread exited: ${exit.reason}`);
    this.notify(() => this.options.onExit?.(exit));
    if (this.resting && exit.cause === "drained") this.policy.rested();
    if (this.resting) return;
    if (this.stopping === undefined) this.restartOrGiveUp(exit, ranForMs);
  }

  private restartOrGiveUp(exit: ThreadExit, ranForMs: number): void {
    const decision = this.policy.exited(ranForMs, LATE.has(exit.cause) ? "late" : "failed");
    // Another version of our own files does not go away by trying again.
    if (!decision.restart || exit.cause === "layout-mismatch") {
      const reason = new ThreadGaveUpError(exit, decision.restart ? 1 : decision.attempts);
      this.endStallWatch?.();
      this.calls.disconnect(`no further restart: ${exit.reason}`);
      this.options.log.error({ thread: this.name, cause: exit.cause }, reason.message);
      this.first?.reject(reason);
      this.notify(() => this.options.onGiveUp(reason));
      return;
    }
    const delayMs = Math.round(decision.delayMs);
    this.options.log.warn({ thread: this.name, delayMs, restarts: this.restartsSoFar + 1 }, "thread restart scheduled");
    this.firstTry.resolve();
    this.restartTimer = this.options.clock.after(delayMs, () => {
      this.restartsSoFar++;
      this.launch();
    });
  }

  /** A callback of the owner that throws must not break supervision. */
  private notify(callback: () => void): void {
    try {
      callback();
    } catch (error) {
      this.options.log.error({ thread: this.name, err: error }, "supervisor callback threw");
    }
  }

  protected enter(state: ThreadState): void {
    this.stateNow = state;
    // While the thread runs, only the thread writes its slot.
    if (state === "spawned" || state === "exited") this.slot.setState(state);
    else if (state === "resting") this.slot.rest(this.generationNow);
  }

  private generationOrThrow(): ThreadGeneration {
    if (this.current === undefined) throw new ThreadExitedError(this.name, "inbox/outbox", "it is not running now");
    return this.current;
  }
}

interface PromiseWithResolvers {
  promise: Promise<void>;
  resolve: () => void;
  reject: (error: Error) => void;
}

/** Its rejection is always handled: start()'s caller may have moved on by the time the thread is stopped. */
function withResolvers(): PromiseWithResolvers {
  let resolve: () => void = () => undefined;
  let reject: (error: Error) => void = () => undefined;
  const promise = new Promise<void>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  promise.catch(() => undefined);
  return { promise, resolve, reject };
}
