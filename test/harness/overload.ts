// Keeps lanes from starting files on a machine that has more work than processors: deadlines of tests would pass for
// want of processor time.
// Invariant: a wait ends when nothing else runs, whatever the load; a run always goes on.

import { readFileSync } from "node:fs";
import { sleep } from "../../tools/standalone/wait.js";

/** Runnable tasks for each processor, on average, above which no further file starts. */
const MOST_TASKS = 2;
const LOOK_MS = 500;
/** Looks that count: the load average of the system would count a minute that is over. */
const LOOKS = 20;

export interface Machine {
  processors: number;
  /** The average number of runnable tasks of the last seconds. */
  load: () => number;
  sleep: (ms: number) => Promise<void>;
}

/** Waits while the machine is overloaded and `othersRun()`. */
export async function waitForRoom(othersRun: () => boolean, { processors, load, sleep: rest }: Machine): Promise<void> {
  while (othersRun() && load() > MOST_TASKS * processors) await rest(LOOK_MS);
}

/** Counts runnable tasks until the process ends. */
export function watchMachine(processors: number): Machine {
  const seen: number[] = [];
  setInterval(() => {
    seen.push(runnableTasks());
    if (seen.length > LOOKS) seen.shift();
  }, LOOK_MS).unref();
  return { processors, load: () => seen.reduce((sum, count) => sum + count, 0) / Math.max(1, seen.length), sleep };
}

/** `procs_running` of proc_stat(5). */
function runnableTasks(): number {
  return Number(/^procs_running (\d+)$/m.exec(readFileSync("/proc/stat", "utf8"))?.[1] ?? 0);
}
