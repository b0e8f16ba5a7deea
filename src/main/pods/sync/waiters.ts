// Waits for the termination of a pod. Invariant: every wait settles, by the termination or by the stop of the kubelet.

import { OperatorError } from "../../../shared/base/errors/operator-error.js";
interface Waiter {
  resolve(): void;
  reject(error: Error): void;
}

export class Waiters {
  private waiting: Waiter[] = [];
  private stopped: (() => OperatorError) | undefined;

  wait(): Promise<void> {
    const { stopped } = this;
    if (stopped !== undefined) return Promise.reject(stopped());
    return new Promise((resolve, reject) => this.waiting.push({ resolve, reject }));
  }

  resolve(): void {
    for (const waiter of this.take()) waiter.resolve();
  }

  /** An error is made for each wait only: most of thousands of pods have none. */
  stop(pod: string): void {
    const stopped = (): OperatorError =>
      new OperatorError(
        `the kubelet stops before pod ${pod} has terminated; the next kubelet continues its termination`,
      );
    this.stopped = stopped;
    for (const waiter of this.take()) waiter.reject(stopped());
  }

  private take(): Waiter[] {
    const { waiting } = this;
    this.waiting = [];
    return waiting;
  }
}
