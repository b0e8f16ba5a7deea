// How long a restart for a changed configuration waits. The first restarts of an hour come soon, and each further one
// waits twice as long. So a flood of changes cannot keep the kubelet restarting. Pure; the times are kept on disk,
// because every restart is a new process.

import type { WallTime } from "../../../shared/base/clock/moments.js";

const WINDOW_MS = 60 * 60_000;
const FREE_RESTARTS = 3;
const FIRST_WAIT_MS = 20_000;
const LONGEST_WAIT_MS = 5 * 60_000;

/** `times`: of earlier restarts. @returns ms from now */
export function restartWait(times: readonly WallTime[], now: WallTime): number {
  const recent = recentRestarts(times, now);
  const last = recent.at(-1);
  if (last === undefined || recent.length < FREE_RESTARTS) return 0;
  const wait = Math.min(FIRST_WAIT_MS * 2 ** (recent.length - FREE_RESTARTS), LONGEST_WAIT_MS);
  return Math.max(0, last + wait - now);
}

/** Those that still count. A time in the future is of a clock that was set back: it does not. */
export function recentRestarts(times: readonly WallTime[], now: WallTime): WallTime[] {
  return times.filter((time) => time <= now && now - time < WINDOW_MS).sort((a, b) => a - b);
}
