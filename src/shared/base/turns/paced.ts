// A call with a pace: callers without pause cost the callee no more than a few calls a second.

import type { Clock } from "../clock/clock.js";

/** @returns `call`, which begins at most once in `gapMs`; a caller that comes earlier waits for its turn */
export function paced<T>(
  gapMs: number,
  clock: Pick<Clock, "monotonic" | "sleep">,
  call: () => Promise<T>,
): () => Promise<T> {
  let free = -Infinity;
  return async () => {
    const now = clock.monotonic();
    const waitMs = free - now;
    free = Math.max(free, now) + gapMs;
    if (waitMs > 0) await clock.sleep(waitMs);
    return await call();
  };
}
