// One start of a worker thread: its Worker, ports and rings, from new to exit. The supervisor makes one after the
// other.
// Invariant: onExit is called exactly once, and last; the first failure is the one reported; ports are closed by then.

import { MessageChannel, type MessagePort } from "node:worker_threads";
import { expose } from "comlink";
import type { Clock, Timer } from "../../shared/base/clock/clock.js";
import { omitUndefined } from "../../shared/base/objects/omit-undefined.js";
import type { BoardBuffers } from "../../shared/base/queue/board.js";
import { LAYOUT_VERSION } from "../../shared/base/queue/layout.js";
import { createRing, type RingBuffers } from "../../shared/base/queue/ring.js";
import type {
  ExitCause,
  SerializedError,
  SupervisorMessage,
  ThreadExit,
  ThreadInit,
  WorkerMessage,
} from "../../shared/contracts/thread.js";
import { errorText } from "../../shared/telemetry/log/error-text.js";
import type { ThreadLogging } from "../../shared/telemetry/log/logging-config.js";
import type { TracingConfig } from "../../shared/telemetry/tracing/tracing-config.js";
import { portEndpoint } from "../../shared/thread/endpoint.js";
import { serializeError } from "../../shared/thread/errors.js";
import type { UncaughtOrigin } from "../../shared/thread/uncaught.js";
import type { SpawnedWorker, SpawnWorker } from "./spawn-worker.js";

export interface GenerationOptions {
  name: string;
  generation: number;
  entry: URL;
  init: unknown;
  upcalls: object;
  /** Bytes. */
  ringCapacities: { inbox?: number; outbox?: number };
  heapMiB: number;
  readyDeadlineMs: number;
  logging: ThreadLogging;
  tracing?: TracingConfig | undefined;
  nativeHistograms?: boolean | undefined;
  board: BoardBuffers;
  clock: Clock;
  spawn: SpawnWorker;
  onReady: () => void;
  onUncaught: (origin: UncaughtOrigin) => void;
  onExit: (exit: ThreadExit) => void;
}

interface Failure {
  cause: ExitCause;
  reason: string;
  error?: SerializedError | undefined;
}

const ring = (capacityBytes: number | undefined): RingBuffers =>
  createRing(capacityBytes === undefined ? {} : { capacityBytes });

export class ThreadGeneration {
  readonly inbox: RingBuffers;
  readonly outbox: RingBuffers;
  /** main's end of the control channel. */
  readonly control: MessagePort;
  private readonly upcalls: MessagePort;
  private readonly worker: SpawnedWorker;
  private readonly readyTimer: Timer;
  private greeted = false;
  private ready = false;
  private drained = false;
  private failure: Failure | undefined;
  private readonly exit: Promise<void>;

  /** Starts the thread. Throws what `spawn` throws. */
  constructor(private readonly options: GenerationOptions) {
    const { name, generation, board, clock } = options;
    this.inbox = ring(options.ringCapacities.inbox);
    this.outbox = ring(options.ringCapacities.outbox);
    const control = new MessageChannel();
    const upcalls = new MessageChannel();
    this.control = control.port1;
    this.upcalls = upcalls.port1;
    const data: ThreadInit<unknown> = omitUndefined({
      name,
      generation,
      board,
      inbox: this.inbox,
      outbox: this.outbox,
      control: control.port2,
      upcalls: upcalls.port2,
      logging: options.logging,
      tracing: options.tracing ? options.tracing : undefined,
      nativeHistograms: options.nativeHistograms === true ? true : undefined,
      init: options.init,
    });
    let exited: () => void = () => undefined;
    this.exit = new Promise((resolve) => {
      exited = resolve;
    });
    this.worker = options.spawn(
      { entry: options.entry, data, heapMiB: options.heapMiB },
      {
        message: (message) => this.receive(message),
        error: (error) => this.onError(error),
        exit: (code) => {
          this.finish(code);
          exited();
        },
      },
    );
    expose(
      options.upcalls,
      portEndpoint(this.upcalls, (error) => this.messageLost(error)),
    );
    this.readyTimer = clock.after(options.readyDeadlineMs, () =>
      this.kill("not-ready", `not ready within ${options.readyDeadlineMs} ms`),
    );
  }

  post(message: SupervisorMessage): void {
    this.worker.post(message);
  }

  /** Ends the thread now, even a busy one. The first given cause is reported. */
  kill(cause: ExitCause, reason: string, thrown?: unknown): void {
    this.fail({ cause, reason, error: thrown === undefined ? undefined : serializeError(thrown) });
    this.worker.terminate();
  }

  /** Main could not handle a message of the thread. */
  messageLost(thrown: unknown): void {
    this.kill("message-lost", `main cannot handle its message: ${errorText(thrown)}`, thrown);
  }

  /** Requests the thread to exit, and kills it at the deadline. Resolves after its exit. */
  async drain(deadlineMs: number): Promise<void> {
    if (this.ready) this.post({ kind: "drain" });
    else this.kill("drained", "stopped before it was ready");
    const timer = this.options.clock.after(deadlineMs, () =>
      this.kill("drain-timeout", `not drained within ${deadlineMs} ms`),
    );
    await this.exit;
    timer.cancel();
  }

  /** Resolves after the thread's exit. */
  gone(): Promise<void> {
    return this.exit;
  }

  private fail(failure: Failure): void {
    this.failure ??= failure;
  }

  private receive(message: WorkerMessage): void {
    const { name, generation, onReady } = this.options;
    switch (message.kind) {
      case "hello":
        this.greeted = true;
        if (message.layoutVersion !== LAYOUT_VERSION) {
          const versions = `layout version ${message.layoutVersion}, main has ${LAYOUT_VERSION}`;
          this.kill("layout-mismatch", `its file belongs to another version of the kubelet: ${versions}`);
        } else if (message.name !== name || message.generation !== generation) {
          const who = `${message.name} generation ${message.generation}`;
          this.kill("layout-mismatch", `it reports ${who}, not ${name} generation ${generation}`);
        }
        return;
      case "ready":
        if (this.failure !== undefined) return;
        if (!this.greeted) {
          this.kill("layout-mismatch", "it sent ready without hello");
          return;
        }
        this.ready = true;
        this.readyTimer.cancel();
        onReady();
        return;
      case "uncaught":
        this.options.onUncaught(message.origin);
        return;
      case "drained":
        this.drained = true;
        return;
      case "fatal":
        this.fail({
          cause: message.cause,
          reason: `${message.error.name} during ${message.during}: ${message.error.message}`,
          error: message.error,
        });
        return;
    }
  }

  private onError(thrown: unknown): void {
    const error = serializeError(thrown);
    if (error.code === "ERR_WORKER_OUT_OF_MEMORY") {
      this.fail({ cause: "out-of-memory", reason: `heap limit of ${this.options.heapMiB} MiB reached`, error });
    } else {
      this.fail({ cause: this.ready ? "uncaught" : "start-failed", reason: `${error.name}: ${error.message}`, error });
    }
  }

  private finish(code: number): void {
    this.readyTimer.cancel();
    this.control.close();
    this.upcalls.close();
    const { name, generation } = this.options;
    const unsaid: Failure = this.drained
      ? { cause: "drained", reason: "drained" }
      : { cause: "exited", reason: `exited by itself with code ${code}` };
    this.options.onExit({ thread: name, generation, code, ...(this.failure ?? unsaid) });
  }
}
