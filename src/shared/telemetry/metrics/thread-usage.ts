// Usage of this thread itself: processor time as the kernel counts it, memory as its V8 heap has it. The rest of the
// process's figures belongs to V8's helper threads, the log thread, the pool and native libraries.

import { readlinkSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { getHeapStatistics } from "node:v8";
import { isMainThread } from "node:worker_threads";
import type { ThreadRegistry } from "./thread-registry.js";

/** USER_HZ: the same on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100;

/**
 * Publishes `nodelet_thread_cpu_seconds_total` and `nodelet_thread_heap_bytes`. Call it on the thread itself, while it
 * starts.
 */
export function watchThreadUsage(registry: ThreadRegistry): void {
  const { thread } = registry;
  // Async file calls run on other threads, for which thread-self is another.
  const task = isMainThread ? `self/task/${process.pid}` : readlinkSync("/proc/thread-self");
  const cpu = registry.counter("nodelet_thread_cpu_seconds_total", "CPU time of a thread in seconds", ["thread"]);
  const heap = registry.gauge(
    "nodelet_thread_heap_bytes",
    "Memory of a thread's V8 heap in bytes, including native memory",
    ["thread"],
  );
  let seen = 0;
  registry.onSnapshot(async () => {
    const seconds = cpuSeconds(await readFile(`/proc/${task}/stat`, "utf8"));
    if (seconds > seen) {
      cpu.inc({ thread }, seconds - seen);
      seen = seconds;
    }
    const { total_physical_size: physical, malloced_memory: malloced, external_memory: external } = getHeapStatistics();
    heap.set({ thread }, physical + malloced + external);
  });
}

/** Returns user and system time from a thread's stat file (proc_pid_stat(5)), in seconds. @internal */
export function cpuSeconds(stat: string): number {
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}
