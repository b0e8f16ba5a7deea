// Collects the garbage of an idle thread. V8 keeps the heap size of a burst. A thread that always does a little work
// never gets the collection that shrinks it.
// Invariant: a busy thread never collects because of this class.

import { performance } from "perf_hooks";
import { getHeapStatistics, setFlagsFromString } from "v8";
import { runInNewContext } from "vm";

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

/** Makes the HeapRest of the calling thread. */
export function heapRest(): HeapRest {
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
 * V8 has `gc` only in contexts that are made while --expose-gc is set. The flag is taken back, since under it V8 takes
 * no code cache (shared/io/code/v8-flags.ts).
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
