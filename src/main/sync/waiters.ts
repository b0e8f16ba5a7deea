// Those who wait for the end of a pod. Invariant: every one of them is answered, by the end or by the kubelet's.

/** The kubelet stops: its pods live on, and the end that was waited for is not seen any more. */
export class WorkerStoppedError extends Error {
  override readonly name = "WorkerStoppedError";
  constructor(pod: string) {
    super(`the kubelet stops before pod ${pod} has terminated; the next kubelet continues its termination`);
  }
}
export function isWorkerStoppedError(error: unknown): error is WorkerStoppedError {
  return error instanceof WorkerStoppedError;
}

interface Waiter {
  resolve(): void;
  reject(error: Error): void;
}

export class Waiters {
  private readonly waiting = new Set<Waiter>();
  private stopped: WorkerStoppedError | undefined;

  wait(): Promise<void> {
    const { stopped } = this;
    if (stopped !== undefined) return Promise.reject(stopped);
    return new Promise((resolve, reject) => this.waiting.add({ resolve, reject }));
  }

  resolve(): void {
    for (const waiter of this.waiting) waiter.resolve();
    this.waiting.clear();
  }

  stop(pod: string): void {
    this.stopped = new WorkerStoppedError(pod);
    for (const waiter of this.waiting) waiter.reject(this.stopped);
    this.waiting.clear();
  }
}
