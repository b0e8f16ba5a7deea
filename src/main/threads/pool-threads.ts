// Counts the threads of a pool that were ended and hang in a call to the kernel.

import type { Worker } from "node:worker_threads";

/**
 * Which threads of the pool were ended but are still there. A thread that runs JavaScript ends at once; one in a call
 * to the kernel ends when that call returns, if ever.
 */
export class PoolThreads {
  private readonly alive = new Set<Worker>();

  constructor(private readonly current: () => readonly Worker[]) {}

  /** Call before and after each job is started: piscina makes and ends threads in between. */
  track(): void {
    for (const thread of this.current()) {
      if (this.alive.has(thread)) continue;
      this.alive.add(thread);
      thread.once("exit", () => this.alive.delete(thread));
    }
  }

  get stuck(): number {
    const current = new Set(this.current());
    let stuck = 0;
    for (const thread of this.alive) if (!current.has(thread)) stuck++;
    return stuck;
  }
}
