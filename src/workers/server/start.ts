// Wires the server thread's logic to what its thread gives it: the board for health, the log, the upcalls to main.
import type { Clock } from "../../shared/clock/clock.js";
import type { ServerControl, ServerInit, ServerUpcalls } from "../../shared/contracts/server.js";
import type { Logger } from "../../shared/log/logger.js";
import type { BoardReader } from "../../shared/queue/board.js";
import { LazyApi } from "./api.js";
import { LogFlushWatch } from "./log-flush.js";
import { ServerLogic } from "./logic.js";
import type { Remote } from "../../shared/thread/remote-calls.js";

/** The part of the worker's context that this thread uses. */
export interface ServerContext {
  init: ServerInit;
  upcalls: Remote<ServerUpcalls>;
  /** Milliseconds since a thread last stamped its slot of the board. */
  boardReader: Pick<BoardReader, "ageMs" | "snapshot">;
  log: Logger;
  clock: Clock;
}

/** Listens, and answers until drained. Control's methods are bound to their object, as remote calls need them. */
export function startServer(context: ServerContext): Promise<{ control: ServerControl; drain(): Promise<void> }> {
  const { init, upcalls, boardReader, log, clock } = context;
  const flushWatch = new LogFlushWatch(log, clock);
  const api = new LazyApi(init.secure?.api, clock, log);
  const logic = new ServerLogic({
    init,
    upcalls,
    threads: () => boardReader.snapshot(),
    api: () => api.get(),
    clock,
    log,
    health: { syncLoopAgeMs: () => boardReader.ageMs("main"), logFlushAgeMs: () => flushWatch.ageMs() },
  });
  logic.start();
  return Promise.resolve({
    control: logic,
    drain: async () => {
      flushWatch.stop();
      await logic.stop();
      await api.close();
    },
  });
}
