// The time that a run has: CI ends a run that takes too long, and nothing is known of its last files then. A run that
// ends by itself names the files that it left out.

import { SetupProblem } from "../../tools/standalone/problem.js";

/** Part of the time for files that run side by side; the others measure or exhaust the machine, and come after. */
const SHARE_TOGETHER = 0.75;

export interface TimeBudget {
  /** True once no further file that runs beside others may begin. */
  isOverTogether: () => boolean;
  /** True once no further file may begin, but for second runs. */
  isOver: () => boolean;
}

/**
 * `minutes` is NODELET_TEST_MINUTES; without it time has no end. `elapsedMs` counts from the start of the run.
 * @throws SetupProblem for what is no positive number
 */
export function timeBudget(minutes: string | undefined, elapsedMs: () => number): TimeBudget {
  const total = minutes === undefined || minutes === "" ? Infinity : Number(minutes);
  if (!(total > 0)) throw new SetupProblem(`NODELET_TEST_MINUTES=${minutes}: it is a number of minutes above 0`);
  const isAfter = (share: number) => (): boolean => elapsedMs() >= total * 60_000 * share;
  return { isOverTogether: isAfter(SHARE_TOGETHER), isOver: isAfter(1) };
}
