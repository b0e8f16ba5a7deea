// One start of a worker, from hello to its exit: the worker's end of the supervisor's protocol (contracts/thread.ts).
// It runs in a thread of its own (worker.ts). Tests and simulations run it in main's.
// Invariant: hello is the first message; the board is stamped from the first moment to the last; an error that ends the
// worker reaches main as a fatal message before the exit.

import { expose } from "comlink";
import type { Clock } from "../base/clock/clock.js";
import type { ThreadFault } from "../base/faults/thread-fault.js";
import { BoardReader, BoardWriter } from "../base/queue/board.js";
import { LAYOUT_VERSION } from "../base/queue/layout.js";
import type { RingBuffers } from "../base/queue/ring.js";
import type { FatalCause, SupervisorMessage, ThreadInit, WorkerMessage } from "../contracts/thread.js";
import type { Logger } from "../telemetry/log/logger.js";
import type { RunningTracing } from "../telemetry/tracing/start-tracing.js";
import { portEndpoint } from "./endpoint.js";
import { serializeError } from "./errors.js";
import { RemoteCalls, type Remote } from "./remote-calls.js";
import { keepStamping } from "./stamper.js";

export interface WorkerContext<Init, Upcalls extends object> {
  readonly name: string;
  readonly init: Init;
  /** From 1, one more at each start of this thread. */
  readonly generation: number;
  /** This thread's slot. Stamps, loop delay and state are kept by WorkerLife. */
  readonly board: BoardWriter;
  readonly boardReader: BoardReader;
  /** main → worker. */
  readonly inbox: RingBuffers;
  /** worker → main. */
  readonly outbox: RingBuffers;
  /** Main's methods for this thread; each call has a deadline of DEFAULT_CALL_DEADLINE_MS. */
  readonly upcalls: Remote<Upcalls>;
  /** Main's methods with another deadline, ms. */
  readonly upcallsWithin: (deadlineMs: number) => Remote<Upcalls>;
  readonly log: Logger;
  readonly clock: Clock;
}

export interface RunningWorker<Control extends object> {
  /** Exposed to main. */
  control: Control;
  /** Completes started work and flushes; the worker exits when it resolves. */
  drain(): Promise<void>;
}

/**
 * Resolves when the control object can answer. What it throws ends the worker and reaches the supervisor as the reason.
 */
export type StartWorker<Control extends object, Init, Upcalls extends object> = (
  context: WorkerContext<Init, Upcalls>,
) => Promise<RunningWorker<Control>>;

/** The thread in which a worker lives. */
export interface WorkerHost {
  /** To the supervisor. */
  post(message: WorkerMessage): void;
  onMessage(listener: (message: SupervisorMessage) => void): void;
  commitFault(fault: ThreadFault): void;
  /** Nothing of the worker runs after this. */
  exit(code: number): void;
  readonly log: Logger;
  readonly clock: Clock;
}

export class WorkerLife<Init> {
  private phase: "start" | "run" | "drain" = "start";
  private readonly board: BoardWriter;
  private readonly endStamps: () => void;
  private tracing: RunningTracing | undefined;

  constructor(
    private readonly name: string,
    private readonly data: ThreadInit<Init>,
    private readonly host: WorkerHost,
  ) {
    host.post({ kind: "hello", layoutVersion: LAYOUT_VERSION, name, generation: data.generation });
    this.board = new BoardWriter(data.board, data.name, host.clock);
    this.endStamps = keepStamping(this.board, host.clock);
  }

  /** The control object answers, and the worker is not draining. */
  get running(): boolean {
    return this.phase === "run";
  }

  /** Never rejects. */
  async launch<Control extends object, Upcalls extends object>(
    start: StartWorker<Control, Init, Upcalls>,
    startTracing: () => Promise<RunningTracing | undefined>,
  ): Promise<void> {
    try {
      this.tracing = await startTracing();
      const worker = await start(this.context<Upcalls>());
      this.phase = "run";
      this.host.onMessage((message) => this.receive(message, worker));
      expose(worker.control, portEndpoint(this.data.control, this.lost));
      this.board.setState("ready");
      this.host.post({ kind: "ready" });
    } catch (error) {
      this.die(error);
    }
  }

  /** An error that no caller caught: the loop of the worker may be broken, it starts over. */
  die(thrown: unknown): void {
    this.end(this.phase === "start" ? "start-failed" : "uncaught", thrown);
  }

  private context<Upcalls extends object>(): WorkerContext<Init, Upcalls> {
    const { name, data, board } = this;
    const { log, clock } = this.host;
    const upcalls = new RemoteCalls<Upcalls>("main", clock);
    upcalls.connect(data.upcalls, this.lost);
    return {
      name,
      init: data.init,
      generation: data.generation,
      board,
      boardReader: new BoardReader(data.board, clock),
      inbox: data.inbox,
      outbox: data.outbox,
      upcalls: upcalls.call,
      upcallsWithin: (deadlineMs) => upcalls.within(deadlineMs),
      log,
      clock,
    };
  }

  private receive(message: SupervisorMessage, worker: RunningWorker<object>): void {
    switch (message.kind) {
      case "running":
        this.board.setState("running");
        return;
      case "drain":
        this.drain(worker).catch((error: unknown) => this.die(error));
        return;
      case "fault":
        this.host.commitFault(message.fault);
    }
  }

  private async drain(worker: RunningWorker<object>): Promise<void> {
    if (this.phase === "drain") return;
    this.phase = "drain";
    this.board.setState("draining");
    await worker.drain();
    await this.tracing?.stop();
    this.host.post({ kind: "drained" });
    this.exit(0);
  }

  private readonly lost = (thrown: unknown): void => this.end("message-lost", thrown);

  private end(cause: FatalCause, thrown: unknown): void {
    this.host.post({ kind: "fatal", cause, during: this.phase, error: serializeError(thrown) });
    this.exit(1);
  }

  private exit(code: number): void {
    this.endStamps();
    this.host.exit(code);
  }
}
