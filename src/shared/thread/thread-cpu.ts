// Processor time of the calling thread, cheap enough to be read around each piece of work. Node 20 has no call for it,
// so the kernel's file is read (proc_pid_schedstat: nanoseconds on a processor, nanoseconds in which the thread waited
// for one). Its values may lag by a scheduler tick, in both directions.

import { openSync, readSync } from "node:fs";

/** ms. */
export type ThreadCpu = () => number;

/** Call it on the thread that is measured. Without the file (CONFIG_SCHED_INFO), elapsed time stands in. */
export function threadCpu(elapsedMs: () => number): ThreadCpu {
  return fieldOfSchedstat(0) ?? elapsedMs;
}

/**
 * Time in which the calling thread was ready and waited for a processor. Call it on that thread. Without the file it
 * is 0.
 */
export function threadWait(): ThreadCpu {
  return fieldOfSchedstat(1) ?? (() => 0);
}

function fieldOfSchedstat(index: number): ThreadCpu | undefined {
  let file: number;
  try {
    // Open, it stays this thread's own; it is closed with the process.
    file = openSync("/proc/thread-self/schedstat", "r");
  } catch {
    return undefined;
  }
  const bytes = Buffer.alloc(64);
  return () => {
    const length = readSync(file, bytes, 0, bytes.length, 0);
    let [field, ns] = [0, 0];
    for (let at = 0; at < length && field <= index; at++) {
      const digit = (bytes[at] ?? 0) - 0x30;
      if (digit < 0 || digit > 9) field++;
      else if (field === index) ns = ns * 10 + digit;
    }
    return ns / 1e6;
  };
}
