// Checks the machine for problems that an operator should know, after the first pods have started.

import type { Clock } from "../../shared/base/clock/clock.js";
import { Deferred } from "../../shared/base/turns/deferred.js";
import { moduleLogger, type Logger } from "../../shared/telemetry/log/logger.js";
import type { EventRecorder } from "../model/event-recorder.js";
import type { MachineSettings } from "../node/machine-warnings.js";

const WARNINGS_DELAY_MS = 2000;

export interface StartWarningsDeps {
  settings: MachineSettings;
  events: EventRecorder;
  clock: Clock;
  log: Logger;
}

export function deferredWarnings({ settings, events, clock, log }: StartWarningsDeps): Deferred<void> {
  return new Deferred({
    name: "warnings about the machine",
    when: {
      ms: WARNINGS_DELAY_MS,
      clock,
      failed: (error) => moduleLogger(log, "node").warn({ err: error }, "cannot inspect the machine"),
    },
    load: async () => (await import("../node/machine-warnings.js")).emitMachineWarnings(settings, events),
  });
}
