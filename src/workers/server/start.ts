// Connects the logic of a server's thread with its thread: the board for health, the log, the upcalls to main.

import type { Clock } from "../../shared/base/clock/clock.js";
import type { BoardReader } from "../../shared/base/queue/board.js";
import { paced } from "../../shared/base/turns/paced.js";
import { MANIFEST_CALL_MS } from "../../shared/contracts/manifests.js";
import type { ServerControl, ServerInit, ServerUpcalls } from "../../shared/contracts/server.js";
import type { Logger } from "../../shared/telemetry/log/logger.js";
import type { Remote } from "../../shared/thread/remote-calls.js";
import { deferredApi } from "./deferred-api.js";
import { LogFlushWatch } from "./log-flush-watch.js";
import { ServerLogic } from "./logic.js";

/** A request waits no longer for the newest pods: while main is stuck it gets those of the last change. */
const SEND_PODS_MS = 250;
/** Clients that ask for pods without pause cost main 50 calls a second. */
const SEND_PODS_GAP_MS = 20;

/** The part of the worker's context that this thread uses. */
export interface ServerContext {
  name: string;
  init: ServerInit;
  upcalls: Remote<ServerUpcalls>;
  upcallsWithin: (deadlineMs: number) => Pick<Remote<ServerUpcalls>, "manifests" | "sendPods">;
  /** Milliseconds since a thread last stamped its slot of the board. */
  boardReader: Pick<BoardReader, "ageMs" | "snapshot">;
  log: Logger;
  clock: Clock;
}

/** Serves requests until drained. Control's methods are bound to their object, as remote calls need them. */
export function startServer(context: ServerContext): Promise<{ control: ServerControl; drain(): Promise<void> }> {
  const { init, upcalls, boardReader, log, clock } = context;
  const flushWatch = new LogFlushWatch(log, clock);
  const api = deferredApi(init.secure?.api ?? init.admin?.api ?? init.page?.api, clock, log);
  const logic = new ServerLogic({
    thread: context.name === "secure-server" ? context.name : "server",
    init,
    upcalls,
    sendPods: paced(SEND_PODS_GAP_MS, clock, () => context.upcallsWithin(SEND_PODS_MS).sendPods()),
    threads: () => boardReader.snapshot(),
    api: () => api.get(),
    manifests: (call) => context.upcallsWithin(MANIFEST_CALL_MS).manifests(call),
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
      await api.stop();
    },
  });
}
