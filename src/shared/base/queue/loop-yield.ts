// Lets the event loop run its timers and sockets between two turns of work, without another timer. A waitAsync that
// this thread itself ends resolves in the loop's next round (3 µs); timers would cost a millisecond.

export class LoopYield {
  private readonly word = new Int32Array(new SharedArrayBuffer(4));

  /** Runs `then` in the event loop's next round. */
  next(then: () => void): void {
    const outcome = Atomics.waitAsync(this.word, 0, 0);
    Atomics.notify(this.word, 0);
    if (outcome.async) void outcome.value.then(then);
    else queueMicrotask(then);
  }

  /** Resolves in the event loop's next round. */
  round(): Promise<void> {
    return new Promise((resolve) => this.next(resolve));
  }
}
