// Limits the use of a scarce resource and shares it fairly between owners (pods). There is a total limit, a limit per
// owner, and round-robin between the owners that wait. Requests of one owner are served in the order of arrival.
// Invariant: no turn is free while an owner that may have it waits. A waiting owner is served after at most one turn of
// each other owner of its rank.

import { abortReason } from "../errors/thrown.js";
import { WaitingLine, type Place } from "./waiting-line.js";

export interface FairTurnsOptions {
  /** Number of turns at once; undefined: no limit. */
  limit: number | undefined;
  /** Number of these for one owner. */
  share: number;
}

export interface TurnRequest {
  owner: string;
  /** Served before all requests that are not urgent. */
  urgent?: boolean;
  /** Aborts the wait; the signal's reason rejects it. */
  signal: AbortSignal;
}

export interface Turn {
  /** True if other requests were served first. */
  readonly waited: boolean;
  /** The turn no longer counts for all, only for its owner: for work that takes long. */
  becomeLong(): void;
  /** Further calls have no effect. */
  release(): void;
}

interface Waiter {
  enter(): void;
}

interface Owner {
  readonly name: string;
  held: number;
  /** Urgent ones first; made when a first request waits. */
  lines: Lines | undefined;
}

type Lines = readonly [urgent: WaitingLine<Waiter>, ordinary: WaitingLine<Waiter>];

type Rank = 0 | 1;

export class FairTurns {
  readonly #limit: number;
  readonly #share: number;
  /** Owners that hold or want a turn. */
  readonly #owners = new Map<string, Owner>();
  /** Waiting owners, the next one to serve first: a served owner moves to the end of its Set. */
  readonly #rings: readonly [urgent: Set<Owner>, ordinary: Set<Owner>] = [new Set(), new Set()];
  #running = 0;
  #waiting = 0;

  constructor({ limit = Infinity, share }: FairTurnsOptions) {
    if (!(limit >= 1) || !(share >= 1)) throw new RangeError("a limit of turns and a share must be 1 or more");
    this.#limit = limit;
    this.#share = share;
  }

  get waiting(): number {
    return this.#waiting;
  }

  /** Turns that the owner holds, long ones too. */
  heldBy(owner: string): number {
    return this.#owners.get(owner)?.held ?? 0;
  }

  hasWholeShare(owner: string): boolean {
    return this.heldBy(owner) >= this.#share;
  }

  /** Rejects with the signal's reason. */
  async acquire({ owner: name, urgent = false, signal }: TurnRequest): Promise<Turn> {
    signal.throwIfAborted();
    const now = this.tryAcquire(name);
    if (now !== undefined) return now;
    const owner = this.#ownerOf(name);
    await this.#wait(owner, urgent ? 0 : 1, signal);
    return this.#turn(owner, true);
  }

  /** A turn if one is free for the owner, without a wait. */
  tryAcquire(name: string): Turn | undefined {
    if (this.#running >= this.#limit) return undefined;
    const owner = this.#ownerOf(name);
    if (owner.held >= this.#share) return undefined;
    this.#grant(owner);
    return this.#turn(owner, false);
  }

  #ownerOf(name: string): Owner {
    const known = this.#owners.get(name);
    if (known !== undefined) return known;
    const owner: Owner = { name, held: 0, lines: undefined };
    this.#owners.set(name, owner);
    return owner;
  }

  #turn(owner: Owner, waited: boolean): Turn {
    let [counts, held] = [true, true];
    const becomeLong = (): void => {
      if (!counts) return;
      counts = false;
      this.#running--;
      this.#serve();
    };
    const giveBack = (): void => {
      if (!held) return;
      held = false;
      owner.held--;
      if (counts) this.#running--;
      counts = false;
      this.#serve();
      this.#forget(owner);
    };
    return { waited, becomeLong, release: giveBack };
  }

  async #wait(owner: Owner, rank: Rank, signal: AbortSignal): Promise<void> {
    const line = (owner.lines ??= [new WaitingLine(), new WaitingLine()])[rank];
    await new Promise<void>((resolve, reject) => {
      const leave = (place: Place<Waiter>): void => {
        place.leave();
        this.#waiting--;
        if (line.size === 0) this.#rings[rank].delete(owner);
        signal.removeEventListener("abort", onAbort);
      };
      const onAbort = (): void => {
        leave(place);
        this.#forget(owner);
        reject(abortReason(signal));
      };
      const enter = (): void => {
        leave(place);
        resolve();
      };
      const place = line.add({ enter });
      this.#waiting++;
      this.#rings[rank].add(owner);
      signal.addEventListener("abort", onAbort, { once: true });
    });
  }

  #serve(): void {
    for (const rank of [0, 1] as const) {
      // Serves one request of each owner in turn; a served owner moves to the end, where this loop reaches it again.
      for (const owner of this.#rings[rank]) {
        if (this.#running >= this.#limit) return;
        if (owner.held >= this.#share) continue;
        this.#grant(owner);
        this.#rings[rank].delete(owner);
        const line = owner.lines?.[rank];
        if (line === undefined) continue;
        if (line.size > 1) this.#rings[rank].add(owner);
        line.first?.enter();
      }
    }
  }

  #grant(owner: Owner): void {
    this.#running++;
    owner.held++;
  }

  #forget({ name, held, lines }: Owner): void {
    if (held === 0 && (lines?.every(({ size }) => size === 0) ?? true)) this.#owners.delete(name);
  }
}
