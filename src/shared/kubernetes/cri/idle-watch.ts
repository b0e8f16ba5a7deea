// Looks at the processors of the machine while calls of a verb wait for a place, and moves their limit (idle-limit.ts).
// Invariant: no call waits without a look to come; there are no looks while none waits.

import type { Clock, Timer } from "../../base/clock/clock.js";
import type { ProcessorTimes } from "../../io/os/processor-times.js";
import type { IdleLimit } from "./idle-limit.js";
import type { Limiter } from "./limiter.js";

/** Long enough for twenty clock ticks of each processor. */
const LOOK_MS = 200;

export interface Processors {
  count: number;
  /** May reject; then the limit stays as it is. */
  readTimes(): Promise<ProcessorTimes>;
}

export class IdleWatch {
  private isRunning = false;
  private next: Timer | undefined;
  /** What the last look found; undefined while none was possible. */
  private before: ProcessorTimes | undefined;

  constructor(
    private readonly processors: Processors,
    private readonly limit: IdleLimit,
    private readonly limiter: Limiter,
    private readonly clock: Clock,
  ) {}

  /** Call when a call is about to wait. */
  start(): void {
    if (this.isRunning) return;
    this.isRunning = true;
    void this.look();
  }

  stop(): void {
    this.isRunning = false;
    this.next?.cancel();
  }

  /** Never rejects. */
  private async look(): Promise<void> {
    const times = await this.processors.readTimes().catch(() => undefined);
    if (!this.isRunning) return;
    if (times !== undefined && this.before !== undefined && times.all > this.before.all) {
      const { idle, all } = this.before;
      this.limit.observe((this.processors.count * (times.idle - idle)) / (times.all - all));
      this.limiter.fill();
    }
    if (this.limiter.waiting === 0) {
      this.isRunning = false;
      this.before = undefined;
      this.limit.reset();
      return;
    }
    this.before = times;
    this.next = this.clock.after(LOOK_MS, () => void this.look()).unref();
  }
}
