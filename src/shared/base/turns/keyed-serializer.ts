// One operation at a time per key, in the order of the calls; operations on different keys run in parallel.
// Invariant: a failed operation does not end those that wait behind it; a key without an operation uses no memory.

export class KeyedSerializer {
  private readonly tails = new Map<string, Promise<void>>();

  /**
   * Waits for its turn, however long. An operation whose signal aborts before its turn is skipped. Rejects as `work`
   * does.
   */
  run<T>(key: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    return this.runAll([key], work, signal);
  }

  /**
   * Waits for its turn on every key, and holds them all. The keys are taken at once, so two operations cannot wait for
   * each other.
   */
  async runAll<T>(keys: readonly string[], work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const before = Promise.all(keys.flatMap((key) => this.tails.get(key) ?? []));
    const turn = before.then(() => {
      signal?.throwIfAborted();
      return work();
    });
    const tail = turn.then(
      () => undefined,
      () => undefined,
    );
    for (const key of keys) this.tails.set(key, tail);
    try {
      return await turn;
    } finally {
      for (const key of keys) if (this.tails.get(key) === tail) this.tails.delete(key);
    }
  }
}
