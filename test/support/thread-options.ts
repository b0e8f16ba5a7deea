// Limits of a supervised thread in tests: patient where a busy machine is slow, quick between two starts.

import { systemClock } from "../../src/shared/base/clock/clock.js";
import { silentLog } from "./silent.js";

export function threadOptions(maxRestarts: number) {
  return {
    ringCapacities: { inbox: 4096, outbox: 4096 },
    heapMiB: 32,
    readyDeadlineMs: 60_000,
    stallAfterMs: 30_000,
    restart: { baseMs: 5, maxMs: 20, jitter: 0.2, healthyAfterMs: 60_000, maxRestarts },
    log: silentLog,
    clock: systemClock,
  };
}
