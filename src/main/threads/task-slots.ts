// Places for jobs that run at once; further jobs wait in line.

import { abortReason } from "../../shared/base/errors/thrown.js";

/** First come, first served; a waiter leaves when its signal aborts or the pool closes. */
export class TaskSlots {
  private readonly queue = new Set<{ start: () => void; fail: (reason: Error) => void }>();
  private closed: Error | undefined;

  constructor(private free: number) {}

  get waiting(): number {
    return this.queue.size;
  }

  async acquire(signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    if (this.closed !== undefined) throw this.closed;
    if (this.free > 0) {
      this.free--;
      return;
    }
    let onAbort = (): void => undefined;
    try {
      await new Promise<void>((start, fail) => {
        const waiter = { start, fail };
        onAbort = () => {
          if (this.queue.delete(waiter)) fail(abortReason(signal));
        };
        this.queue.add(waiter);
        signal?.addEventListener("abort", onAbort, { once: true });
      });
    } finally {
      signal?.removeEventListener("abort", onAbort);
    }
  }

  release(): void {
    const [next] = this.queue;
    if (next === undefined) {
      this.free++;
      return;
    }
    this.queue.delete(next);
    next.start();
  }

  close(reason: Error): void {
    this.closed = reason;
    for (const waiter of this.queue) waiter.fail(reason);
    this.queue.clear();
  }
}
