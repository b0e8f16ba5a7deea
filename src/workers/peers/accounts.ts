// Processor time that the servers of each pod cost this thread (docs/adr/0075).
// Invariant: an honest connection is never charged; a pod over its budget gets no further connection until a part of it
// has been given back.

import type { Clock } from "../../shared/base/clock/clock.js";
import type { PodUid } from "../../shared/kubernetes/identifiers.js";

/**
 * One run may cost this much, ms: several times an honest TLS handshake with its redirects on a slow machine. @internal
 */
export const FREE_MS = 25;
/** Cost beyond FREE_MS of all runs of a pod, ms; given back evenly within WINDOW_MS. @internal */
export const BUDGET_MS = 500;
const WINDOW_MS = 60_000;
/** Accounts that hold nothing are dropped when there are more than so many. */
const PRUNE_FROM = 256;

/** The run was not begun, or was cut: the pod's server costs too much. */
export class OverBudgetError extends Error {
  override readonly name = "OverBudgetError";
  constructor(usedMs: number) {
    super(
      `the server of this pod used ${(usedMs / 1000).toFixed(1)} s of processor time within ${WINDOW_MS / 1000} s ` +
        `beyond what its connections need; the limit is ${BUDGET_MS / 1000} s`,
    );
  }
}

class Account {
  /** Cost beyond FREE_MS, ms. */
  private excess = 0;
  /** All cost, ms: the order in which waiting pods are served. */
  private attained = 0;
  private at: number;

  constructor(private readonly clock: Pick<Clock, "monotonic">) {
    this.at = clock.monotonic();
  }

  get attainedMs(): number {
    this.giveBack();
    return this.attained;
  }

  get isEmpty(): boolean {
    this.giveBack();
    return this.attained === 0 && this.excess === 0;
  }

  charge(cost: number, excess: number): void {
    this.giveBack();
    this.attained += cost;
    this.excess += excess;
  }

  /** Throws OverBudgetError when the pod may not go on. */
  check(): void {
    this.giveBack();
    if (this.excess > BUDGET_MS) throw new OverBudgetError(this.excess);
  }

  private giveBack(): void {
    const now = this.clock.monotonic();
    const back = ((now - this.at) * BUDGET_MS) / WINDOW_MS;
    this.at = now;
    this.excess = Math.max(0, this.excess - back);
    this.attained = Math.max(0, this.attained - back);
  }
}

/** One probe or hook, with all its redirects. */
export class PeerRun {
  private spent = 0;

  constructor(
    private readonly account: Account,
    /** Time that the run waited for this thread: it does not count against the server. */
    readonly onWaited: (ms: number) => void = () => undefined,
  ) {}

  get attainedMs(): number {
    return this.account.attainedMs;
  }

  charge(cost: number): void {
    const before = Math.max(FREE_MS, this.spent);
    this.spent += cost;
    this.account.charge(cost, Math.max(0, this.spent - before));
  }

  /** Throws OverBudgetError when the run may not begin, or not go on. */
  check(): void {
    this.account.check();
  }
}

export class PeerAccounts {
  private readonly byPod = new Map<PodUid, Account>();

  constructor(private readonly clock: Pick<Clock, "monotonic">) {}

  /** Accounts in memory. */
  get size(): number {
    return this.byPod.size;
  }

  startRun(uid: PodUid, onWaited?: (ms: number) => void): PeerRun {
    return new PeerRun(this.accountOf(uid), onWaited);
  }

  private accountOf(uid: PodUid): Account {
    const known = this.byPod.get(uid);
    if (known !== undefined) return known;
    if (this.byPod.size >= PRUNE_FROM) for (const [pod, one] of this.byPod) if (one.isEmpty) this.byPod.delete(pod);
    const account = new Account(this.clock);
    this.byPod.set(uid, account);
    return account;
  }
}
