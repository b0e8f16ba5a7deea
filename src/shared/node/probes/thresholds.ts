// A probe's verdict changes after successThreshold or failureThreshold equal results in a row. Pure.

import type { ProbeOutcome, ProbeVerdict } from "../../contracts/prober.js";

export interface Tally {
  verdict: ProbeVerdict | undefined;
  /** The newest result, and the number of equal results in a row. */
  last: ProbeVerdict | undefined;
  count: number;
}

export interface Thresholds {
  successThreshold: number;
  failureThreshold: number;
}

export function newTally(verdict: ProbeVerdict | undefined): Tally {
  return { verdict, last: undefined, count: 0 };
}

/** The tally after one more run. An error proves nothing about the container: it neither counts nor breaks a row. */
export function tallyRun(tally: Tally, outcome: ProbeOutcome, thresholds: Thresholds): Tally {
  if (outcome === "error") return tally;
  const last: ProbeVerdict = outcome === "failure" ? "Failure" : "Success";
  const count = last === tally.last ? tally.count + 1 : 1;
  const needed = last === "Success" ? thresholds.successThreshold : thresholds.failureThreshold;
  return { verdict: count >= needed ? last : tally.verdict, last, count };
}
