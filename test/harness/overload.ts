// Keeps lanes from starting files on a machine that has more work than processors: deadlines of tests would pass for
// want of processor time.
// Invariant: a wait ends when nothing else runs, whatever the load; a run always goes on.

import { loadavg } from "node:os";
import { sleep } from "../../tools/standalone/wait.js";

/** Runnable tasks for each processor, averaged over a minute, above which no further file starts. */
const MOST_TASKS = 3;
const LOOK_MS = 1000;

export interface Machine {
  processors: number;
  /** The average number of runnable tasks of the last minute. */
  load: () => number;
  sleep: (ms: number) => Promise<void>;
}

/** Waits while the machine is overloaded and `othersRun()`. */
export async function waitForRoom(othersRun: () => boolean, { processors, load, sleep: rest }: Machine): Promise<void> {
  while (othersRun() && load() > MOST_TASKS * processors) await rest(LOOK_MS);
}

export function thisMachine(processors: number): Machine {
  return { processors, load: () => loadavg()[0] ?? 0, sleep };
}
