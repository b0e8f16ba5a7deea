// Keeps a thread's board slot fresh: "my event loop turned just now, and it has been this late".
import { performance } from "node:perf_hooks";
import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { Clock } from "../clock/clock.js";
import type { BoardWriter } from "../queue/board.js";

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
      heap.look();
    })
    .unref();
  return () => timer.cancel();
}

// Collects the garbage of an idle thread. V8 keeps the heap size of a burst. A thread that always does a little work never gets the
// collection that shrinks it.
// Invariant: a busy thread never collects because of this class.

/** Successive checks of a nearly idle thread, 6 s in all, because an idle node is relisted every 10 s. */
const CALM_LOOKS = 12;
/** More of the time than this is work. */
const CALM_UTILIZATION = 0.1;
/** Less than this is not worth a collection. */
const WORTH_BYTES = 5 * 1024 ** 2;

interface HeapRestDeps {
  /** Collects all garbage, on this thread; false: it could not. */
  collect(): boolean;
  /** Resident bytes of this thread's heap. */
  heapBytes(): number;
  /** Share of the time since the last call that this thread's event loop was busy, 0–1. */
  utilization(): number;
}

/** @internal */
export class HeapRest {
  private calm = 0;
  /** After the last collection. */
  private settled = 0;
  /** Another is to follow. */
  private tidy = false;

  constructor(private readonly deps: HeapRestDeps) {}

  /** Once per stamp. */
  look(): void {
    this.calm = this.deps.utilization() < CALM_UTILIZATION ? this.calm + 1 : 0;
    if (this.calm < CALM_LOOKS) return;
    const tidied = this.tidy;
    if (!tidied && this.deps.heapBytes() < this.settled + WORTH_BYTES) {
      this.calm = 0;
      return;
    }
    // One that could not run follows at the next check.
    if (!this.deps.collect()) return;
    // The first collection leaves pages nearly empty; the one at the next check compacts them.
    this.tidy = !tidied;
    this.settled = this.deps.heapBytes();
    if (tidied) this.calm = 0;
  }
}

/** Of the thread that calls it. */
function heapRest(): HeapRest {
  let last = performance.eventLoopUtilization();
  return new HeapRest({
    collect: collectGarbage,
    heapBytes: () => getHeapStatistics().total_physical_size,
    utilization: () => {
      const now = performance.eventLoopUtilization();
      const { utilization } = performance.eventLoopUtilization(now, last);
      last = now;
      return utilization;
    },
  });
}

/**
 * V8 has `gc` only in contexts that are made while --expose-gc is set. The flag is taken back, since under it V8 takes no code cache
 * (shared/code/v8-flags.ts).
 * @returns false if another thread took the flag back before the context was made
 */
function collectGarbage(): boolean {
  setFlagsFromString("--expose-gc");
  try {
    return runInNewContext("const collect = globalThis.gc; collect?.(); collect !== undefined") === true;
  } finally {
    setFlagsFromString("--no-expose-gc");
  }
}
