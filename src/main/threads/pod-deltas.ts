// Sends a thread its copy of each pod: the whole set at each start, and changes afterwards. A change that does not arrive is no loss: the
// thread is being restarted and receives the whole set.
// Invariant: changes are sent one after the other; later ones are merged into the next; a change during the sending of the whole
// set is not lost.

interface Waiting<Value> {
  set: Map<string, Value>;
  gone: Set<string>;
}

export class PodDeltas<Value> {
  private waiting: Waiting<Value> | undefined;
  private sending = false;
  private open = false;

  constructor(
    private readonly send: (set: Value[], gone: string[]) => Promise<void>,
    private readonly failed: (error: unknown) => void,
  ) {}

  /** The thread has the whole set: it takes changes. */
  get joined(): boolean {
    return this.open;
  }

  /** Both by pod UID. */
  change(set: Iterable<readonly [string, Value]>, gone: Iterable<string>): void {
    const waiting = (this.waiting ??= { set: new Map<string, Value>(), gone: new Set<string>() });
    for (const [uid, value] of set) {
      waiting.set.set(uid, value);
      waiting.gone.delete(uid);
    }
    for (const uid of gone) {
      waiting.set.delete(uid);
      waiting.gone.add(uid);
    }
    void this.flush();
  }

  /** `sendAll` reads the whole set when it is called. */
  async join(sendAll: () => Promise<void>): Promise<void> {
    this.waiting = undefined;
    await sendAll();
    this.open = true;
    // Changes that came while the whole set was sent.
    void this.flush();
  }

  /** The thread has exited. */
  leave(): void {
    this.open = false;
  }

  private async flush(): Promise<void> {
    if (this.sending) return;
    this.sending = true;
    try {
      while (this.waiting !== undefined && this.open) {
        const { set, gone } = this.waiting;
        this.waiting = undefined;
        await this.send([...set.values()], [...gone]);
      }
    } catch (error) {
      this.failed(error);
    } finally {
      this.sending = false;
    }
  }
}
