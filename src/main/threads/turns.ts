// Jobs of which only one may run at a time. Kinds of jobs take turns, and within a kind its owners take turns. An owner
// with a hundred jobs delays each other owner by one job. A hundred owners with jobs of one kind delay another kind by
// one job.
// Invariant: a job that waits leaves when its signal aborts or the turns are closed; the next one begins however a job
// ends.

import { abortReason } from "../../shared/base/errors/thrown.js";

interface Waiter {
  begin: () => void;
  fail: (reason: Error) => void;
}

export interface TurnOf {
  kind: string;
  owner: string;
}

export class Turns {
  /**
   * By kind and owner; the first kind, and its first owner, has the next turn. Those without a job that waits are not
   * in it.
   */
  private readonly kinds = new Map<string, Map<string, Set<Waiter>>>();
  private busy = false;
  private closed: Error | undefined;

  /** The number of waiting jobs. */
  get waiting(): number {
    return this.all().length;
  }

  /**
   * Runs the job when it is its turn. Rejects with the signal's reason, the reason of the close, or as the job does.
   */
  async take<T>({ kind, owner }: TurnOf, job: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted();
    if (this.closed !== undefined) throw this.closed;
    if (this.busy) await this.turn({ kind, owner }, signal);
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
    const all = this.all();
    this.kinds.clear();
    for (const { fail } of all) fail(reason);
  }

  private async turn(of: TurnOf, signal: AbortSignal | undefined): Promise<void> {
    let onAbort = (): void => undefined;
    try {
      await new Promise<void>((begin, fail) => {
        const waiter = { begin, fail };
        onAbort = () => {
          this.remove(of, waiter);
          fail(abortReason(signal));
        };
        const owners = this.kinds.get(of.kind) ?? new Map<string, Set<Waiter>>();
        const waiters = owners.get(of.owner) ?? new Set();
        this.kinds.set(of.kind, owners.set(of.owner, waiters.add(waiter)));
        signal?.addEventListener("abort", onAbort, { once: true });
      });
    } finally {
      signal?.removeEventListener("abort", onAbort);
    }
  }

  private beginNext(): void {
    const [kind, owners] = first(this.kinds) ?? [];
    const [owner, waiters] = (owners && first(owners)) ?? [];
    const [next] = waiters ?? [];
    if (kind === undefined || owner === undefined || next === undefined) return;
    this.remove({ kind, owner }, next);
    // The owner's other jobs wait for a turn of each owner of the kind. The kind's wait for a turn of each kind.
    if (owners !== undefined && waiters !== undefined) toEnd(owners, owner, waiters);
    if (owners !== undefined) toEnd(this.kinds, kind, owners);
    // Reserved for the waiter: a caller that comes before the waiter runs must wait.
    this.busy = true;
    next.begin();
  }

  private remove({ kind, owner }: TurnOf, waiter: Waiter): void {
    const owners = this.kinds.get(kind);
    const waiters = owners?.get(owner);
    waiters?.delete(waiter);
    if (waiters?.size === 0) owners?.delete(owner);
    if (owners?.size === 0) this.kinds.delete(kind);
  }

  private all(): Waiter[] {
    return [...this.kinds.values()].flatMap((owners) => [...owners.values()].flatMap((waiters) => [...waiters]));
  }
}

function first<T>(map: ReadonlyMap<string, T>): [string, T] | undefined {
  const [entry] = map;
  return entry;
}

/** Nothing happens to one that is no longer there. */
function toEnd<T>(map: Map<string, T>, key: string, value: T): void {
  if (map.delete(key)) map.set(key, value);
}
