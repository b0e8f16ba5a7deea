// When the machine is looked at for what an operator should know: once the first pods are on their way.
import type { Clock } from "../../shared/clock/clock.js";
import { moduleLogger, type Logger } from "../../shared/log/logger.js";
import type { EventRecorder } from "../model/event-recorder.js";
import type { MachineSettings } from "../node/machine-warnings.js";

const AFTER_START_MS = 2000;

export function startLateWarnings(
  settings: MachineSettings,
  { events, clock, log }: { events: EventRecorder; clock: Clock; log: Logger },
): { stop(): Promise<void> } {
  const ending = new AbortController();
  const running = clock
    .sleep(AFTER_START_MS, ending.signal)
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
