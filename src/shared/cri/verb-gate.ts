// Limits how many calls of one verb are under way at once, first come first served.

export class VerbGate {
  private active = 0;
  private readonly waiting: (() => void)[] = [];

  constructor(private readonly limit: number) {}

  /** Resolves when the call may go; rejects with the signal's reason when it aborts first. Call leave() afterwards. */
  async enter(signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    if (this.active < this.limit) {
      this.active++;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const onAbort = (): void => {
        const index = this.waiting.indexOf(go);
        if (index >= 0) this.waiting.splice(index, 1);
        reject(signal?.reason instanceof Error ? signal.reason : new Error("aborted while waiting for its turn"));
      };
      const go = (): void => {
        signal?.removeEventListener("abort", onAbort);
        resolve();
      };
      signal?.addEventListener("abort", onAbort, { once: true });
      this.waiting.push(go);
    });
  }

  /** Gives the place to the next that waits. */
  leave(): void {
    const next = this.waiting.shift();
    if (next === undefined) this.active--;
    else next();
  }
}
