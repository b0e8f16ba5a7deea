// Keeps a thread's board slot fresh: "my event loop turned just now, and it has been this late".

import type { Clock } from "../base/clock/clock.js";
import type { BoardWriter } from "../base/queue/board.js";
import { heapRest } from "./heap-rest.js";

/** Period of the stamps, ms. A stall limit below three of these would see ghosts. */
const STAMP_PERIOD_MS = 500;

/** Number of stamps for the rolling maximum and mean of the delay: 5 s. */
const WINDOW = 10;

/** Stamps now and then periodically; does not keep the process alive. Returns how to end it. */
export function keepStamping(board: BoardWriter, clock: Clock, periodMs: number = STAMP_PERIOD_MS): () => void {
  const delays: number[] = [];
  const heap = heapRest();
  let last = clock.monotonic();
  board.stamp();
  const timer = clock
    .every(periodMs, () => {
      const now = clock.monotonic();
      delays.push(Math.max(0, now - last - periodMs) * 1000);
      if (delays.length > WINDOW) delays.shift();
      last = now;
      board.setLoopDelay(Math.max(...delays), delays.reduce((sum, delay) => sum + delay, 0) / delays.length);
      board.stamp();
      heap.check();
    })
    .unref();
  return () => timer.cancel();
}
