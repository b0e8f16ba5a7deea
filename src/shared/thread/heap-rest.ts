// Gives a thread's memory back once the thread rests: V8 keeps what a burst made its heap grow to, and a thread that does a
// little all the time never gets the collection by which it would shrink.
// Invariant: a thread that has anything to do is never made to collect.
import { performance } from "node:perf_hooks";
import { getHeapStatistics } from "node:v8";

/** Checks in a row at which the thread was nearly idle: 6 s of stamps, because an idle node is relisted every 10 s. */
const CALM_LOOKS = 12;
/** More of the time than this is work. */
const CALM_UTILIZATION = 0.1;
/** Less than this is not worth a collection. */
const WORTH_BYTES = 5 * 1024 ** 2;

export interface HeapRestParts {
  /** Collects all garbage, on this thread. */
  collect(): void;
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

  constructor(private readonly parts: HeapRestParts) {}

  /** Once per stamp. */
  look(): void {
    this.calm = this.parts.utilization() < CALM_UTILIZATION ? this.calm + 1 : 0;
    if (this.calm < CALM_LOOKS) return;
    const tidied = this.tidy;
    this.tidy = !tidied && this.parts.heapBytes() >= this.settled + WORTH_BYTES;
    if (!tidied && !this.tidy) {
      this.calm = 0;
      return;
    }
    // The first collection leaves pages nearly empty; the one at the next look moves what is in them together.
    this.parts.collect();
    this.settled = this.parts.heapBytes();
    if (tidied) this.calm = 0;
  }
}

/** Of the thread that calls it; undefined when Node runs without --expose-gc. */
export function heapRest(): HeapRest | undefined {
  const { gc } = globalThis;
  if (gc === undefined) return undefined;
  let last = performance.eventLoopUtilization();
  return new HeapRest({
    collect: () => {
      gc();
    },
    heapBytes: () => getHeapStatistics().total_physical_size,
    utilization: () => {
      const now = performance.eventLoopUtilization();
      const { utilization } = performance.eventLoopUtilization(now, last);
      last = now;
      return utilization;
    },
  });
}
