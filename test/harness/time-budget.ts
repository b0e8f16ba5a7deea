// The time that a run has: CI ends a run that takes too long, and nothing is known of its last files then. A run that
// ends by itself names the files that it left out.

import { SetupProblem } from "../../tools/standalone/problem.js";

/** At the end of the time for files that measure or exhaust the machine: they come after the others. */
const MINUTES_ALONE = 10;

export interface TimeBudget {
  /** True once no further file that runs beside others may begin. */
  isOverTogether: () => boolean;
  /** True once no further file may begin, but for second runs. */
  isOver: () => boolean;
}

/**
 * `minutes` is NODELET_TEST_MINUTES; without it time has no end. `elapsedMs` counts from the start of the run.
 * @throws SetupProblem for a text that is not a positive number
 */
export function timeBudget(minutes: string | undefined, elapsedMs: () => number): TimeBudget {
  const total = minutes === undefined || minutes === "" ? Infinity : Number(minutes);
  if (!(total > 0)) throw new SetupProblem(`NODELET_TEST_MINUTES=${minutes}: it is a number of minutes above 0`);
  const isAfter = (end: number) => (): boolean => elapsedMs() >= end * 60_000;
  return { isOverTogether: isAfter(Math.max(total / 2, total - MINUTES_ALONE)), isOver: isAfter(total) };
}
