// A worker that lives in another worker's thread: its supervisor speaks with it over a port of its own. It saves an
// isolate where the failure of one ends the work of the other in any case (docs/adr/0131).
// Invariant: nothing of a guest that has failed, or that its supervisor has given up, runs on: the thread ends.

import type { MessagePort } from "node:worker_threads";
import type { Clock } from "../base/clock/clock.js";
import type { SupervisorMessage, ThreadInit } from "../contracts/thread.js";
import { createLogger, flushLogger } from "../telemetry/log/logger.js";
import { commitFault } from "./faults.js";
import { WorkerLife, type StartWorker } from "./worker-life.js";

/** Returns at once. It does not trace. */
export function runGuest<Control extends object, Init, Upcalls extends object>(
  data: ThreadInit<Init>,
  port: MessagePort,
  start: StartWorker<Control, Init, Upcalls>,
  clock: Clock,
): void {
  const log = createLogger({ thread: data.name, logging: data.logging });
  const onGivenUp = (): never => process.exit(1);
  port.once("close", onGivenUp);
  const life = new WorkerLife(data.name, data, {
    post: (message) => port.postMessage(message),
    onMessage: (listener) => void port.on("message", (message: SupervisorMessage) => listener(message)),
    commitFault: (fault) => commitFault(fault, clock, log),
    exit(code) {
      flushLogger(log);
      if (code !== 0) process.exit(code);
      port.off("close", onGivenUp);
      for (const open of [port, data.control, data.upcalls]) open.close();
    },
    log,
    clock,
  });
  void life.launch(start, () => Promise.resolve(undefined));
}
