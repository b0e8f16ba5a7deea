// A worker in a thread of its own: what a worker's index.ts calls, and nothing else. The protocol is in worker-life.ts.

import { parentPort, workerData, type MessagePort } from "node:worker_threads";
import { systemClock, type Clock } from "../base/clock/clock.js";
import { OperatorError } from "../base/errors/operator-error.js";
import type { ThreadInit } from "../contracts/thread.js";
import { createLogger, flushLogger, type Logger } from "../telemetry/log/logger.js";
import { enableNativeHistograms } from "../telemetry/metrics/thread-registry.js";
import type { RunningTracing } from "../telemetry/tracing/start-tracing.js";
import { commitFault } from "./faults.js";
import { UncaughtErrors, type UncaughtOrigin } from "./uncaught.js";
import { WorkerLife, type StartWorker, type WorkerHost } from "./worker-life.js";

/**
 * Runs this thread as the worker `names`, or as the one of them that it was started for. Returns at once.
 */
export function runWorker<Control extends object, Init, Upcalls extends object>(
  names: string | readonly [string, ...string[]],
  start: StartWorker<Control, Init, Upcalls>,
  /** `end`: the thread's own loop may be broken, it starts over. `survive`: for a thread whose work is its clients'. */
  { uncaught = "end" }: { uncaught?: "end" | "survive" } = {},
): void {
  const [usual, ...others] = typeof names === "string" ? ([names] as const) : names;
  if (parentPort === null) {
    throw new OperatorError(`${usual} is a worker thread's file: the kubelet starts it, not you`);
  }
  const data = workerData as ThreadInit<Init>;
  const name = others.find((other) => other === data.name) ?? usual;
  const log = createLogger({ thread: name, logging: data.logging });
  const clock = systemClock;
  const host = threadHost(parentPort, log, clock);
  const life = new WorkerLife(name, data, host);
  const survived = new UncaughtErrors({
    clock,
    log,
    onError: (origin) => host.post({ kind: "uncaught", origin }),
    end: (error) => life.die(error),
  });
  const onUncaught = (error: unknown, origin: UncaughtOrigin): void => {
    if (uncaught === "survive" && life.running) survived.caught(error, origin);
    else life.die(error);
  };
  process.on("uncaughtException", (error) => onUncaught(error, "exception"));
  process.on("unhandledRejection", (error) => onUncaught(error, "rejection"));
  void life.launch(start, () => prepared(data, clock, log));
}

function threadHost(port: MessagePort, log: Logger, clock: Clock): WorkerHost {
  return {
    post: (message) => port.postMessage(message),
    onMessage: (listener) => void port.on("message", listener),
    commitFault: (fault) => commitFault(fault, clock, log),
    exit(code) {
      flushLogger(log);
      process.exit(code);
    },
    log,
    clock,
  };
}

/** OpenTelemetry is loaded only in a thread that traces. */
async function prepared(
  { tracing, nativeHistograms }: ThreadInit<unknown>,
  clock: Clock,
  log: Logger,
): Promise<RunningTracing | undefined> {
  if (nativeHistograms === true) await enableNativeHistograms();
  if (tracing === undefined) return undefined;
  const { startTracing } = await import("../telemetry/tracing/start-tracing.js");
  return startTracing(tracing, clock, log);
}
