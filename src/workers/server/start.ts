// Wires the server thread's logic to what its thread gives it: the board for health, the log, the upcalls to main.
import type { Clock } from "../../shared/clock/clock.js";
import type { ServerControl, ServerInit, ServerUpcalls } from "../../shared/contracts/server.js";
import type { Logger } from "../../shared/log/logger.js";
import { LogFlushWatch } from "./log-flush.js";
import { ServerLogic } from "./logic.js";

/** The part of the worker's context that this thread uses. */
export interface ServerContext {
  init: ServerInit;
  upcalls: ServerUpcalls;
  /** Milliseconds since a thread last stamped its slot of the board. */
  boardReader: { ageMs(thread: string): number };
  log: Logger;
  clock: Clock;
}

/** Listens, and answers until drained. Control's methods are bound to their object, as remote calls need them. */
export function startServer(context: ServerContext): Promise<{ control: ServerControl; drain(): Promise<void> }> {
  const { init, upcalls, boardReader, log, clock } = context;
  const flushWatch = new LogFlushWatch(log, clock);
  const logic = new ServerLogic({
    init,
    upcalls,
    api: () => Promise.reject(new Error("this node has no kubeconfig, and so no API server to ask")),
    clock,
    log,
    health: { syncLoopAgeMs: () => boardReader.ageMs("main"), logFlushAgeMs: () => flushWatch.ageMs() },
  });
  logic.start();
  return Promise.resolve({
    control: logic,
    drain: () => {
      flushWatch.stop();
      return logic.stop();
    },
  });
}
