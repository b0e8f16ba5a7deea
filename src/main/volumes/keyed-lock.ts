// One operation at a time per key, in the order of the calls. A key without a holder uses no memory.

export class KeyedLock {
  private readonly tails = new Map<string, Promise<void>>();

  /** Waits for its turn, however long; the turn of one whose signal ends meanwhile is skipped. */
  async run<T>(key: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const before = this.tails.get(key) ?? Promise.resolve();
    const turn = before.then(() => {
      signal?.throwIfAborted();
      return work();
    });
    const tail = turn.then(
      () => undefined,
      () => undefined,
    );
    this.tails.set(key, tail);
    try {
      return await turn;
    } finally {
      if (this.tails.get(key) === tail) this.tails.delete(key);
    }
  }
}
