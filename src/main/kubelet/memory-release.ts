// Returns malloc's free memory to the kernel every 30 s. Buffers of a burst (compressed logs, large objects, code of
// threads that ended) would stay resident for as long as a small allocation above them lives: up to 50 MiB under attack
// (docs/adr/0070).

import type { Clock } from "../../shared/base/clock/clock.js";
import { messageOf } from "../../shared/base/errors/thrown.js";
import { Loop } from "../../shared/base/turns/loop.js";
import { releaseFreeMemory } from "../../shared/io/os/malloc.js";
import { moduleLogger, type Logger } from "../../shared/telemetry/log/logger.js";

const PERIOD_MS = 30_000;

export interface MemoryReleaseDeps {
  clock: Clock;
  log: Logger;
  release?: () => Promise<void>;
}

/** A C library that cannot do this ends it with a log line; the kubelet then holds more memory. */
export function startMemoryRelease({ clock, log, release = releaseFreeMemory }: MemoryReleaseDeps): Loop {
  const loop = new Loop({
    round: async () => {
      await release();
      return undefined;
    },
    periodMs: PERIOD_MS,
    failed: (error) => {
      const problem = `cannot return free memory to the kernel: ${messageOf(error)}; the kubelet may hold more memory`;
      moduleLogger(log, "node").info({ err: error }, problem);
      return Infinity;
    },
    clock,
  });
  loop.start(PERIOD_MS);
  return loop;
}
