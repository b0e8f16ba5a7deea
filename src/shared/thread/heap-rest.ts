// Collects the garbage of an idle thread. V8 keeps the heap size of a burst. A thread that always does a little work
// never gets the collection that shrinks it.
// Invariant: a busy thread never collects because of this class. While other programs keep the thread from running, it
// collects once a minute at most, in the ordinary way.

import { performance } from "perf_hooks";
import { getHeapStatistics, setFlagsFromString } from "v8";
import { runInNewContext } from "vm";
import { ProcessorShare } from "./processor-share.js";
import { threadCpu, threadWait } from "./thread-cpu.js";

/** Checks of one look-back, 6 s in all, because an idle node is relisted every 10 s. */
const LOOKS = 12;
/** A larger share of one processor is work. */
const CALM_SHARE = 0.1;
/**
 * A thread that waited for a processor for a larger share of the time shares the machine with more work than it has
 * processors. In a collection it also waits for V8's helper threads, which wait for processors themselves
 * (docs/adr/0120).
 */
const CONTENDED_SHARE = 0.02;
/** Looks back of a minute: a machine that is always contended does not keep its garbage for ever. */
const CONTENDED_LOOKS = 10;
/** Less than this is not worth a collection. */
const WORTH_BYTES = 5 * 1024 ** 2;
/**
 * Beyond it a heap is large: pods of megabytes, or of thousands of containers. The last resort takes a millisecond for
 * each MiB in use, an ordinary collection half of it; meanwhile the thread does nothing else.
 */
const LARGE_BYTES = 64 * 1024 ** 2;
/** A large heap is collected again when it has grown by this part. */
const LARGE_GROWTH = 0.25;

interface HeapRestDeps {
  /** Collects garbage, on this thread; false: it could not. */
  collect(how: "all" | "once"): boolean;
  /** Resident bytes of this thread's heap. */
  heapBytes(): number;
  /** Processor time of this thread, ms. */
  readonly cpuMs: () => number;
  /** Time in which this thread was ready and waited for a processor, ms. */
  readonly waitMs: () => number;
  /** Monotonic, ms. */
  readonly now: () => number;
}

/** Node 20 knows no flavors: it collects once in the ordinary way. */
const COLLECT = {
  all: collectionOf(`{ type: "major", execution: "sync", flavor: "last-resort" }`),
  once: collectionOf(`{ type: "major", execution: "sync" }`),
};

function collectionOf(options: string): string {
  return `const collect = globalThis.gc; collect?.(${options}); collect !== undefined`;
}

export class HeapRest {
  private looks = 0;
  /** After the last collection. */
  private settled = 0;
  /** Looks back in a row that found a contended machine. */
  private contended = 0;
  private readonly share: ProcessorShare;
  private readonly waited: ProcessorShare;

  constructor(private readonly deps: HeapRestDeps) {
    this.share = new ProcessorShare(deps.cpuMs, deps.now);
    this.waited = new ProcessorShare(deps.waitMs, deps.now);
  }

  /** Once per stamp. */
  check(): void {
    if (++this.looks < LOOKS) return;
    this.looks = 0;
    const bytes = this.deps.heapBytes();
    this.contended = this.waited.next() < CONTENDED_SHARE ? 0 : this.contended + 1;
    const isLarge = bytes > LARGE_BYTES;
    const worth = isLarge ? Math.max(WORTH_BYTES, this.settled * LARGE_GROWTH) : WORTH_BYTES;
    if (this.share.next() >= CALM_SHARE || bytes < this.settled + worth) return;
    if (this.contended % CONTENDED_LOOKS > 0) return;
    const isContended = this.contended > 0;
    if (!this.deps.collect(isLarge || isContended ? "once" : "all")) {
      // One that could not run follows soon.
      this.looks = LOOKS - 1;
      return;
    }
    // After contention a collection follows that gives the pages back.
    if (isLarge || !isContended) this.settled = this.deps.heapBytes();
  }
}

/** Makes the HeapRest of the calling thread. */
export function heapRest(): HeapRest {
  // Time of the machine, also under a test's clock: idle and active time of the event loop are the whole.
  const now = (): number => {
    const { idle, active } = performance.eventLoopUtilization();
    return idle + active;
  };
  return new HeapRest({
    collect: collectGarbage,
    heapBytes: () => getHeapStatistics().total_physical_size,
    cpuMs: threadCpu(busyMs),
    waitMs: threadWait(),
    now,
  });
}

/** Stands in where the kernel does not count a thread's processor time: how long its event loop has been busy. */
function busyMs(): number {
  return performance.eventLoopUtilization().active;
}

/**
 * V8 has `gc` only in contexts that are made while --expose-gc is set. The flag is taken back, since under it V8 takes
 * no code cache (shared/io/code/v8-flags.ts). The last resort gives empty pages back; an ordinary collection keeps them
 * in a pool, up to 14 MiB of main's.
 * @returns false if another thread took the flag back before the context was made
 */
function collectGarbage(how: keyof typeof COLLECT): boolean {
  setFlagsFromString("--expose-gc");
  try {
    return runInNewContext(COLLECT[how]) === true;
  } finally {
    setFlagsFromString("--no-expose-gc");
  }
}
