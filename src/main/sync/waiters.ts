// Waits for the termination of a pod. Invariant: every wait settles, by the termination or by the stop of the kubelet.

/** The kubelet stops: its pods keep running, and the awaited termination is not observed any more. */
export class WorkerStoppedError extends Error {
  override readonly name = "WorkerStoppedError";
  constructor(pod: string) {
    super(`the kubelet stops before pod ${pod} has terminated; the next kubelet continues its termination`);
  }
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
