// The log thread as main runs it, and what every other thread gets to log with. It is not supervised like the others:
// they and their supervisor log through it.
// Invariant: each logging thread has one ring for the life of the process; its lines outlive both the thread that
// logged them and the log thread; while there is no log thread they wait in the rings.

import { Worker } from "node:worker_threads";
import type { Clock, Timer } from "../../shared/base/clock/clock.js";
import { messageOf } from "../../shared/base/errors/thrown.js";
import { createLogWords, LogWords, type LogWordsBuffer } from "../../shared/base/queue/log-words.js";
import { createRecentLines } from "../../shared/base/queue/recent-lines.js";
import { createRing, RingConsumer, RingProducer, type RingBuffers } from "../../shared/base/queue/ring.js";
import { Backoff } from "../../shared/base/turns/backoff.js";
import type { LogInit, LogMessage } from "../../shared/contracts/log.js";
import { YOUNG_GENERATION_MIB } from "../../shared/io/code/v8-flags.js";
import type { ThreadLogs } from "../../shared/telemetry/log/logger.js";
import type { LoggingConfig, ThreadLogging } from "../../shared/telemetry/log/logging-config.js";
import { openOutput } from "../../shared/telemetry/log/open-output.js";

export interface LogThreadOptions {
  config: LoggingConfig;
  /** Standard error leads to the journal. */
  journal: boolean;
  clock: Clock;
  /** Called after each unexpected exit of the thread; the next one starts `delayMs` later. */
  onExit?: (reason: string, delayMs: number) => void;
  /** Default 1 and 2. */
  outFd?: number;
  errFd?: number;
  /** Bytes of a thread's ring; default by thread. */
  ringBytes?: number;
}

/** Some thousand lines: a burst while the reader is slow. */
const MAIN_RING_BYTES = 1 << 20;
const RING_BYTES = 256 << 10;
const HEAP_MIB = 32;
const RESTART = { initialMs: 20, maxMs: 10_000 };
/** A thread that lived this long has nothing to do with the failure before. */
const HEALTHY_MS = 60_000;
const FLUSH_LOOK_MS = 2;
/** For the first start on a busy machine. */
const FIRST_START_MS = 5000;

export class LogThread implements ThreadLogs {
  private readonly words: LogWordsBuffer;
  private readonly control: LogWords;
  /** Outlives the log thread, too. */
  private readonly recent = createRecentLines();
  private readonly rings = new Map<string, RingBuffers>();
  private worker: Worker | undefined;
  private restart: Timer | undefined;
  private readonly backoff = new Backoff(RESTART);
  private startedAt = 0;
  private started = false;
  private stopped = false;
  private restartsSoFar = 0;

  constructor(private readonly options: LogThreadOptions) {
    this.words = createLogWords(options.config.verbosity);
    this.control = new LogWords(this.words);
  }

  /** Starts the thread; a second call changes nothing. Lines logged before it is up wait. */
  start(): void {
    if (this.started || this.stopped) return;
    this.started = true;
    this.launch();
  }

  forThread(thread: string): ThreadLogging {
    const { config, journal, ringBytes } = this.options;
    let ring = this.rings.get(thread);
    if (ring === undefined) {
      ring = createRing({ capacityBytes: ringBytes ?? (thread === "main" ? MAIN_RING_BYTES : RING_BYTES) });
      this.rings.set(thread, ring);
      this.post({ kind: "ring", ring });
    }
    return { config, journal, words: this.words, ring, recent: this.recent };
  }

  dropped(): ReadonlyMap<string, number> {
    return new Map([...this.rings].map(([thread, ring]) => [thread, new RingProducer(ring).dropped]));
  }

  /** Starts so far after the first. */
  get restarts(): number {
    return this.restartsSoFar;
  }

  get verbosity(): number {
    return this.control.verbosity;
  }

  /** In every thread, from its next line on. */
  set verbosity(verbosity: number) {
    this.control.verbosity = verbosity;
  }

  async flush(deadlineMs: number): Promise<boolean> {
    const { clock } = this.options;
    const end = clock.monotonic() + deadlineMs;
    this.start();
    const asked = this.control.askFlush();
    this.post({ kind: "flush" });
    while (!this.control.isFlushed(asked)) {
      if (clock.monotonic() >= end) return false;
      await clock.sleep(FLUSH_LOOK_MS);
    }
    return true;
  }

  /**
   * Flushes and blocks until it is done, for a process that is about to end. A thread that was never started gets more
   * time, for its start. Without a log thread the caller writes the lines itself.
   */
  flushNow(deadlineMs: number): boolean {
    const { clock } = this.options;
    const patienceMs = this.started ? deadlineMs : deadlineMs + FIRST_START_MS;
    this.start();
    if (this.worker === undefined) return this.writeHere();
    const asked = this.control.askFlush();
    this.post({ kind: "flush" });
    return this.control.waitFlushed(asked, patienceMs, () => clock.monotonic());
  }

  /** Kills the thread as a crash would; it is started again. */
  async terminate(): Promise<void> {
    await this.worker?.terminate();
  }

  /** Ends the thread finally. Lines that are not flushed are lost. */
  async stop(): Promise<void> {
    this.stopped = true;
    this.restart?.cancel();
    await this.worker?.terminate();
  }

  private launch(): void {
    const { config, outFd = 1, errFd = 2, clock } = this.options;
    const { splitStream, infoBufferBytes, flushFrequencyMs } = config;
    const rings = [...this.rings.values()];
    const workerData: LogInit = {
      words: this.words,
      recent: this.recent,
      rings,
      outFd,
      errFd,
      splitStream,
      infoBufferBytes,
      flushFrequencyMs,
    };
    this.startedAt = clock.monotonic();
    const worker = new Worker(new URL("../../workers/log/index.js", import.meta.url), {
      name: "log",
      workerData,
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB, maxYoungGenerationSizeMb: YOUNG_GENERATION_MIB },
    });
    this.worker = worker;
    let reason = "it exited by itself";
    worker.on("error", (error: unknown) => {
      reason = messageOf(error);
    });
    worker.once("exit", () => this.onExit(reason));
    // The log alone is no reason to live on.
    worker.unref();
  }

  private post(message: LogMessage): void {
    this.worker?.postMessage(message);
  }

  private onExit(reason: string): void {
    const { clock, onExit } = this.options;
    this.worker = undefined;
    if (this.stopped) return;
    if (clock.monotonic() - this.startedAt >= HEALTHY_MS) this.backoff.reset();
    const delayMs = this.backoff.next();
    this.restart = clock
      .after(delayMs, () => {
        this.restartsSoFar++;
        this.launch();
      })
      .unref();
    onExit?.(reason, delayMs);
  }

  /** Safe only while no log thread reads the rings. What does not fit into a full pipe is left. */
  private writeHere(): boolean {
    const err = openOutput(this.options.errFd ?? 2);
    for (const ring of this.rings.values()) {
      const consumer = new RingConsumer(ring);
      for (let records = consumer.peek(); records.length > 0; records = consumer.peek()) {
        for (const record of records) {
          if (err.write(record.subarray(1)) < record.length - 1) return false;
        }
        consumer.takePeeked();
      }
    }
    return true;
  }
}
