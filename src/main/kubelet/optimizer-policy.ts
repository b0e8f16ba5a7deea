// Lets V8 optimize code only under sustained load (docs/adr/0120). In a burst of pods the optimizing compiler takes
// more processor time than its code saves before the burst is over. A large object is the exception: without optimized
// code a pod of 10,000 containers holds main for a quarter of a second at a time.

import type { Clock } from "../../shared/base/clock/clock.js";
import { watchLargeWork } from "../../shared/base/turns/large-work.js";
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
  const set = (isBusy: boolean, why: string): void => {
    against = 0;
    if (isBusy === busy) return;
    busy = isBusy;
    options.setBusy(busy);
    log.debug({ busy }, why);
  };
  const forget = watchLargeWork(() => set(true, "a large object: V8 may optimize code"));
  const timer = clock
    .every(PERIOD_MS, () => {
      const isBusy = share.next() >= BUSY;
      against = isBusy === busy ? 0 : against + 1;
      if (against < SAMPLES) return;
      set(isBusy, isBusy ? "sustained load: V8 may optimize code" : "the load has ended: V8 optimizes no code");
    })
    .unref();
  return {
    stop: () => {
      forget();
      timer.cancel();
    },
  };
}
