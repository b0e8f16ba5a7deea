// Jobs of which only one may run at a time, and whose owners take turns: an owner with a hundred jobs delays each of the others by
// one job.
// Invariant: a job that waits leaves when its signal aborts or the turns are closed; the next one begins however a job ends.
import { abortReason } from "../../shared/errors/thrown.js";

interface Waiter {
  begin: () => void;
  fail: (reason: Error) => void;
}

export class Turns {
  /** By owner; the first owner has the next turn. Owners without a job that waits are not in it. */
  private readonly owners = new Map<string, Set<Waiter>>();
  private busy = false;
  private closed: Error | undefined;

  /** How many jobs wait. */
  get waiting(): number {
    return [...this.owners.values()].reduce((sum, { size }) => sum + size, 0);
  }

  /** Runs the job when it is its turn. Rejects with the signal's reason, the reason of the close, or as the job does. */
  async take<T>(owner: string, job: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted();
    if (this.closed !== undefined) throw this.closed;
    if (this.busy) await this.turn(owner, signal);
    this.busy = true;
    try {
      return await job();
    } finally {
      this.busy = false;
      this.beginNext();
    }
  }

  close(reason: Error): void {
    this.closed = reason;
    const all = [...this.owners.values()];
    this.owners.clear();
    for (const waiters of all) for (const { fail } of waiters) fail(reason);
  }

  private async turn(owner: string, signal: AbortSignal | undefined): Promise<void> {
    let onAbort = (): void => undefined;
    try {
      await new Promise<void>((begin, fail) => {
        const waiter = { begin, fail };
        onAbort = () => {
          this.remove(owner, waiter);
          fail(abortReason(signal));
        };
        const waiters = this.owners.get(owner) ?? new Set();
        this.owners.set(owner, waiters.add(waiter));
        signal?.addEventListener("abort", onAbort, { once: true });
      });
    } finally {
      signal?.removeEventListener("abort", onAbort);
    }
  }

  private beginNext(): void {
    const [next] = this.owners;
    if (next === undefined) return;
    const [owner, waiters] = next;
    const [first] = waiters;
    if (first === undefined) return;
    this.remove(owner, first);
    // The owner's other jobs wait until all others had a turn.
    if (this.owners.delete(owner)) this.owners.set(owner, waiters);
    // Taken for the waiter: who comes before it runs must wait.
    this.busy = true;
    first.begin();
  }

  private remove(owner: string, waiter: Waiter): void {
    const waiters = this.owners.get(owner);
    waiters?.delete(waiter);
    if (waiters?.size === 0) this.owners.delete(owner);
  }
}
