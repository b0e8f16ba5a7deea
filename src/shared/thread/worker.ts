// The worker's end of the supervisor's protocol (contracts/thread.ts). A worker's index.ts calls runWorker and nothing
// else.
// Invariant: hello is the first message; the thread stamps the board from its first moment to its last; an uncaught
// error reaches main as a fatal message before the thread exits.
import { expose } from "comlink";
import { parentPort, workerData } from "node:worker_threads";
import { systemClock, type Clock } from "../clock/clock.js";
import type { FatalCause, SupervisorMessage, ThreadInit, WorkerMessage } from "../contracts/thread.js";
import { createLogger, flushLogger, type Logger } from "../log/logger.js";
import { BoardReader, BoardWriter } from "../queue/board.js";
import { LAYOUT_VERSION } from "../queue/layout.js";
import type { RingBuffers } from "../queue/ring.js";
import { portEndpoint } from "./endpoint.js";
import { serializeError } from "./errors.js";
import { commitFault } from "./faults.js";
import { RemoteCalls, type Remote } from "./remote-calls.js";
import { enableNativeHistograms } from "../metrics/thread-registry.js";
import type { RunningTracing } from "../tracing/start-tracing.js";
import { keepStamping } from "./stamper.js";
import { UncaughtErrors, type UncaughtOrigin } from "./uncaught.js";

export interface WorkerContext<Init, Upcalls extends object> {
  readonly name: string;
  readonly init: Init;
  /** From 1, one more at each start of this thread. */
  readonly generation: number;
  /** This thread's slot. Stamps, loop delay and state are kept by runWorker. */
  readonly board: BoardWriter;
  readonly boardReader: BoardReader;
  /** main → worker. */
  readonly inbox: RingBuffers;
  /** worker → main. */
  readonly outbox: RingBuffers;
  /** Main's methods for this thread; each call has a deadline of DEFAULT_CALL_DEADLINE_MS. */
  readonly upcalls: Remote<Upcalls>;
  /** The same with another deadline, ms. */
  readonly upcallsWithin: (deadlineMs: number) => Remote<Upcalls>;
  readonly log: Logger;
  readonly clock: Clock;
}

export interface RunningWorker<Control extends object> {
  /** Exposed to main. */
  control: Control;
  /** Completes started work and flushes; the thread exits when it resolves. */
  drain(): Promise<void>;
}

/** A worker file run by hand, or under another name than it was started for. */
class WorkerStartError extends Error {
  override readonly name = "WorkerStartError";
  readonly code = "WORKER_START";
}

/**
 * Runs this thread as the worker `names`, or as the one of them that it was started for. `start` resolves when the control object can
 * answer. Returns at once; what `start` throws ends the thread and reaches the supervisor as its reason.
 */
export function runWorker<Control extends object, Init, Upcalls extends object>(
  names: string | readonly [string, ...string[]],
  start: (context: WorkerContext<Init, Upcalls>) => Promise<RunningWorker<Control>>,
  /** `end`: the thread's own loop may be broken, it starts over. `survive`: for a thread whose work is its clients'. */
  { uncaught = "end" }: { uncaught?: "end" | "survive" } = {},
): void {
  const port = parentPort;
  const [usual, ...others] = typeof names === "string" ? ([names] as const) : names;
  if (port === null) throw new WorkerStartError(`${usual} is a worker thread's file: the kubelet starts it, not you`);
  const post = (message: WorkerMessage): void => {
    port.postMessage(message);
  };
  const data = workerData as ThreadInit<Init>;
  const name = others.find((other) => other === data.name) ?? usual;
  post({ kind: "hello", layoutVersion: LAYOUT_VERSION, name, generation: data.generation });

  const log = createLogger({ thread: name, logging: data.logging });
  let phase: "start" | "run" | "drain" = "start";
  const end = (cause: FatalCause, thrown: unknown): void => {
    post({ kind: "fatal", cause, during: phase, error: serializeError(thrown) });
    flushLogger(log);
    process.exit(1);
  };
  const die = (thrown: unknown): void => end(phase === "start" ? "start-failed" : "uncaught", thrown);
  const onLost = (thrown: unknown): void => end("message-lost", thrown);
  const clock = systemClock;
  const survived = new UncaughtErrors({
    clock,
    log,
    onError: (origin) => post({ kind: "uncaught", origin }),
    end: die,
  });
  const onUncaught = (error: unknown, origin: UncaughtOrigin): void => {
    if (uncaught === "survive" && phase === "run") survived.caught(error, origin);
    else die(error);
  };
  process.on("uncaughtException", (error) => onUncaught(error, "exception"));
  process.on("unhandledRejection", (error) => onUncaught(error, "rejection"));

  const board = new BoardWriter(data.board, data.name, clock);
  keepStamping(board, clock);
  const upcalls = new RemoteCalls<Upcalls>("main", clock);
  upcalls.connect(data.upcalls, onLost);

  const launch = async (): Promise<void> => {
    if (data.nativeHistograms === true) await enableNativeHistograms();
    const tracing = await tracingOf(data, clock, log);
    const running = await start({
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
    });
    phase = "run";
    const drain = async (): Promise<void> => {
      if (phase === "drain") return;
      phase = "drain";
      board.setState("draining");
      await running.drain();
      await tracing?.stop();
      post({ kind: "drained" });
      flushLogger(log);
      process.exit(0);
    };
    port.on("message", (message: SupervisorMessage) => {
      switch (message.kind) {
        case "running":
          board.setState("running");
          return;
        case "drain":
          drain().catch(die);
          return;
        case "fault":
          commitFault(message.fault, clock, log);
      }
    });
    expose(running.control, portEndpoint(data.control, onLost));
    board.setState("ready");
    post({ kind: "ready" });
  };
  launch().catch(die);
}

/** OpenTelemetry is loaded only in a thread that traces. */
async function tracingOf(
  { tracing }: ThreadInit<unknown>,
  clock: Clock,
  log: Logger,
): Promise<RunningTracing | undefined> {
  if (tracing === undefined) return undefined;
  const { startTracing } = await import("../tracing/start-tracing.js");
  return startTracing(tracing, clock, log);
}
