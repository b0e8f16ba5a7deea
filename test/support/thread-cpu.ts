// CPU time of the calling thread, which other threads, processes and a busy machine do not add to.
import { readFileSync } from "node:fs";

/** The kernel brings the figure up to date at each of its ticks: it is at most a few milliseconds old. */
function threadCpuMs(): number {
  const [nanos = ""] = readFileSync("/proc/thread-self/schedstat", "utf8").split(" ");
  return Number(nanos) / 1e6;
}

/** CPU milliseconds of one call, the least of several: the rest is the compiler's and the collector's. */
export function leastCpuMs(work: () => unknown, runs = 5): number {
  let least = Infinity;
  for (let run = 0; run < runs; run++) {
    const before = threadCpuMs();
    work();
    least = Math.min(least, threadCpuMs() - before);
  }
  return least;
}
