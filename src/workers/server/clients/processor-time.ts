// Processor time of this thread. Node 20 has no function for it: there, an upper bound stands in for it.

import type { Clock } from "../../../shared/base/clock/clock.js";

interface CpuUsage {
  user: number;
  system: number;
}

/** Node 22.19 and 24 have it; the tests also run on Node 20. */
const { threadCpuUsage } = process as { threadCpuUsage?: () => CpuUsage };

/** Starts to measure. The result gives the milliseconds since then: never more than the time that has passed. */
export function measureProcessorTime(clock: Pick<Clock, "monotonic">): () => number {
  if (threadCpuUsage !== undefined) {
    const begun = milliseconds(threadCpuUsage.call(process));
    return () => milliseconds(threadCpuUsage.call(process)) - begun;
  }
  const [begun, begunAt] = [milliseconds(process.cpuUsage()), clock.monotonic()];
  return () => Math.min(milliseconds(process.cpuUsage()) - begun, clock.monotonic() - begunAt);
}

function milliseconds({ user, system }: CpuUsage): number {
  return (user + system) / 1000;
}
