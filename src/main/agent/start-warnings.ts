// Checks the machine for problems that an operator should know, after the first pods have started.

import type { Clock } from "../../shared/clock/clock.js";
import { moduleLogger } from "../../shared/log/logger.js";
import type { Logger } from "../../shared/log/thread-log.js";
import type { EventRecorder } from "../model/event-recorder.js";
import type { MachineSettings } from "../node/machine-warnings.js";

const WARNINGS_DELAY_MS = 2000;

export function startLateWarnings(
  settings: MachineSettings,
  { events, clock, log }: { events: EventRecorder; clock: Clock; log: Logger },
): { stop(): Promise<void> } {
  const ending = new AbortController();
  const running = clock
    .sleep(WARNINGS_DELAY_MS, ending.signal)
    .then(async () => (await import("../node/machine-warnings.js")).emitMachineWarnings(settings, events))
    .catch((error: unknown) => {
      if (!ending.signal.aborted) moduleLogger(log, "node").warn({ err: error }, "cannot inspect the machine");
    });
  return {
    async stop() {
      ending.abort(new Error("the kubelet is stopping"));
      await running;
    },
  };
}
