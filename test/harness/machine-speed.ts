// How slow this machine is. Tests with containers start thousands of processes, which a machine with page tables in
// software does at a third of the usual speed, although it computes as fast as others.

import { spawnSync } from "node:child_process";

/** The start and end of Node.js on a machine of usual speed. */
const USUAL_START_MS = 40;
const STARTS = 5;
/** A hanging test is found within this multiple of its deadline on any machine. */
const MOST = 3;
/** From here on, fewer lanes run side by side. */
const SLOW = 1.8;

/** The factor of deadlines for a machine on which starts of Node.js take so many milliseconds: 1 to 3. */
export function slownessOf(startsMs: readonly number[]): number {
  const middle = startsMs.toSorted((a, b) => a - b)[Math.floor(startsMs.length / 2)] ?? USUAL_START_MS;
  return Math.min(MOST, Math.max(1, Math.round((middle / USUAL_START_MS) * 10) / 10));
}

/** {@link slownessOf} this machine, with what else it does now. */
export function measureSlowness(): number {
  const starts = Array.from({ length: STARTS }, () => {
    const began = performance.now();
    spawnSync(process.execPath, ["--eval", "0"], { stdio: "ignore" });
    return performance.now() - began;
  });
  return slownessOf(starts);
}

export function isSlow(slowness: number): boolean {
  return slowness >= SLOW;
}
