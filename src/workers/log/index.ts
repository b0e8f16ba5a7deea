// Entry of the log thread (shared/contracts/log.ts), the only thread that writes lines. It loads little, because every
// line of the start waits for it. The port keeps it alive until main ends it.

import { parentPort, workerData } from "node:worker_threads";
import { systemClock } from "../../shared/base/clock/clock.js";
import type { LogInit, LogMessage } from "../../shared/contracts/log.js";
import { openOutput } from "../../shared/telemetry/log/open-output.js";
import { LogWriter } from "./log-writer.js";

const { rings, outFd, errFd, ...options } = workerData as LogInit;
const err = openOutput(errFd);
const out = options.splitStream ? openOutput(outFd) : err;
const writer = new LogWriter({ ...options, out, err, clock: systemClock });
for (const ring of rings) writer.addRing(ring);

parentPort?.on("message", (message: LogMessage) => {
  switch (message.kind) {
    case "ring":
      writer.addRing(message.ring);
      return;
    case "flush":
      writer.pump();
  }
});
