// Lets V8 optimize code only under sustained load (docs/adr/0120). In a burst of pods the optimizing compiler takes
// more processor time than its code saves before the burst is over.

import type { Clock } from "../../shared/base/clock/clock.js";
import type { Logger } from "../../shared/telemetry/log/logger.js";
import { processCpuMs, ProcessorShare, type ProcessorTime } from "../../shared/thread/processor-share.js";

const PERIOD_MS = 5000;
/** So many samples in a row that are alike change the state: a minute. */
const SAMPLES = 12;
/** Use of processors by the whole process, in processors. */
const BUSY = 0.5;

interface OptimizerPolicyOptions {
  /** V8 may optimize code from now on, or no longer. */
  setBusy(busy: boolean): void;
  /** Processor time of the process, ms. */
  cpuMs?: ProcessorTime;
  clock: Clock;
  log: Pick<Logger, "debug">;
}

/** Returns how to end it. */
export function startOptimizerPolicy(options: OptimizerPolicyOptions): { stop(): void } {
  const { clock, log, cpuMs = processCpuMs } = options;
  let busy = false;
  /** Samples in a row that speak against the present state. */
  let against = 0;
  const share = new ProcessorShare(cpuMs, () => clock.monotonic());
  const timer = clock
    .every(PERIOD_MS, () => {
      const isBusy = share.next() >= BUSY;
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
