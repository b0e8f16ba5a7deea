// Lets V8 optimize code only under sustained load (docs/adr/0120). In a burst of pods the optimizing compiler takes
// more processor time than its code saves before the burst is over.

import type { Clock } from "../../shared/base/clock/clock.js";
import type { Logger } from "../../shared/telemetry/log/logger.js";

const PERIOD_MS = 5000;
/** So many samples in a row that are alike change the state: a minute. */
const SAMPLES = 12;
/** Processor time of the whole process, in processors. */
const BUSY = 0.5;

interface OptimizerPolicyOptions {
  /** V8 may optimize code from now on, or no longer. */
  setBusy(busy: boolean): void;
  /** Processor time of the process, ms. */
  cpuMs?: () => number;
  clock: Clock;
  log: Pick<Logger, "debug">;
}

/** Returns how to end it. */
export function startOptimizerPolicy(options: OptimizerPolicyOptions): { stop(): void } {
  const { clock, log, cpuMs = processMs } = options;
  let busy = false;
  /** Samples in a row that speak against the present state. */
  let against = 0;
  let [at, used] = [clock.monotonic(), cpuMs()];
  const timer = clock
    .every(PERIOD_MS, () => {
      const [nowAt, nowUsed] = [clock.monotonic(), cpuMs()];
      const isBusy = nowUsed - used >= BUSY * (nowAt - at);
      [at, used] = [nowAt, nowUsed];
      against = isBusy === busy ? 0 : against + 1;
      if (against < SAMPLES) return;
      against = 0;
      busy = isBusy;
      options.setBusy(busy);
      log.debug({ busy }, busy ? "sustained load: V8 may optimize code" : "the load has ended: V8 optimizes no code");
    })
    .unref();
  return { stop: () => timer.cancel() };
}

function processMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
