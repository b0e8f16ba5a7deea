// Detects a thread whose board stamp is stale: its event loop does not turn. A check that itself runs late (the process
// was stopped, the machine was paused, main was busy) proves nothing: the threads slept too and get one period to stamp
// again.

import type { Clock } from "../../shared/base/clock/clock.js";
import type { BoardReader } from "../../shared/base/queue/board.js";

const LOOKS_PER_LIMIT = 4;

/** Calls `onStall(ageMs)` whenever the stamp is older than the limit while `watching()`. Returns how to end it. */
export function watchStalls(options: {
  thread: string;
  stallAfterMs: number;
  board: BoardReader;
  clock: Clock;
  watching: () => boolean;
  onStall: (ageMs: number) => void;
}): () => void {
  const { thread, stallAfterMs, board, clock } = options;
  const period = stallAfterMs / LOOKS_PER_LIMIT;
  let lastLook = clock.monotonic();
  const timer = clock
    .every(period, () => {
      const now = clock.monotonic();
      const late = now - lastLook > 2 * period;
      lastLook = now;
      if (late || !options.watching()) return;
      const age = board.ageMs(thread);
      if (age > stallAfterMs) options.onStall(age);
    })
    .unref();
  return () => timer.cancel();
}
