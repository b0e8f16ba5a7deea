// Time, order and randomness of the simulated machine. One callback runs at a time; all promises that it settles are
// done before the next one. Which thread's callback is next is the seed's choice.
// Invariant: callbacks of one owner run in the order in which they became ready. An owner that stalls has no turn.

import { Owner } from "./owner.js";
import { Random } from "./random.js";
import { TimerHeap } from "./timer-heap.js";

/** Wall time at which each run begins: 2026-01-01T00:00:00Z. */
const BEGINNING_MS = Date.UTC(2026, 0, 1);

const realImmediate = globalThis.setImmediate;

/** Runs ticks and microtasks until none is left, as Node does between two immediates. */
const { _tickCallback: settleAll } = process as unknown as { _tickCallback: () => void };

/** Steps before the real event loop has a turn: it writes what the run prints. */
const TURN_STEPS = 10_000;

/** Cancelled timers that stay in the heap in any case. */
const MOST_CANCELLED = 64;

class Pending implements Handle {
  constructor(
    readonly due: number,
    readonly order: number,
    readonly owner: Owner,
    /** Undefined: cancelled, or run. */
    public fn: (() => void) | undefined,
    private readonly onCancel: () => void,
  ) {}
  cancel(): void {
    if (this.fn === undefined) return;
    this.fn = undefined;
    this.onCancel();
  }
}

export interface Handle {
  cancel(): void;
}

/** What a run does besides running callbacks. */
interface KernelHooks {
  /** A callback threw. */
  uncaught(owner: Owner, error: unknown): void;
}

class Kernel {
  readonly world = new Owner("world");
  /** The owner of the callback that runs, and of its promises. */
  current: Owner = this.world;
  random = new Random(0);
  steps = 0;
  private order = new Random(0);
  private time = 0;
  private ahead = 0;
  private sequence = 0;
  private readonly ready = new Map<Owner, (() => void)[]>();
  private readonly timers = new TimerHeap<Pending>();
  /** Entries of the heap that were cancelled, about. Most timers are deadlines of calls that end in time. */
  private cancelled = 0;
  private readonly onCancel = (): void => void this.cancelled++;
  /** Callbacks of stalled owners that are ready. */
  private readonly stalled = new Map<Owner, (() => void)[]>();

  /** Before anything of the run. */
  seed(seed: number): void {
    this.random = new Random(seed);
    this.order = this.random.stream("order");
  }

  /** Milliseconds since the beginning of the run; nothing sets it. */
  get monotonic(): number {
    return this.time;
  }

  /** Wall time, milliseconds since the epoch. */
  get wall(): number {
    return BEGINNING_MS + this.time + this.ahead;
  }

  /** Sets the wall clock. */
  jump(ms: number): void {
    this.ahead += ms;
  }

  /** Runs `fn` as a callback of `owner`, after those that are ready. */
  post(owner: Owner, fn: () => void): void {
    if (!owner.isAlive) return;
    const queue = this.stalled.get(owner) ?? this.ready.get(owner);
    if (queue === undefined) this.ready.set(owner, [fn]);
    else queue.push(fn);
  }

  /**
   * Ends a callback of the world with a callback of `owner`: in the same step if nothing of the owner is ready before
   * it. To be called last.
   */
  deliver(owner: Owner, fn: () => void): void {
    if (!owner.isAlive) return;
    if (this.stalled.has(owner) || this.ready.has(owner)) this.post(owner, fn);
    else {
      this.current = owner;
      fn();
    }
  }

  /** Runs `fn` as a callback of `owner` after `ms`. */
  after(owner: Owner, ms: number, fn: () => void): Handle {
    const entry = new Pending(this.time + Math.max(0, ms), this.sequence++, owner, fn, this.onCancel);
    if (this.cancelled > MOST_CANCELLED && this.cancelled * 2 > this.timers.size) {
      this.timers.keep((one) => one.fn !== undefined);
      this.cancelled = 0;
    }
    this.timers.push(entry);
    return entry;
  }

  /** Timers of the kubelet and its threads that are set. */
  get timersSet(): number {
    return this.timers.count(({ owner, fn }) => fn !== undefined && owner !== this.world && owner.isAlive);
  }

  /** Those of owners with such a name. */
  timersOf(name: RegExp): number {
    return this.timers.count(({ owner, fn }) => fn !== undefined && owner.isAlive && name.test(owner.name));
  }

  /** No callback of `owner` runs for `ms`: as a thread without processor time. What becomes ready waits. */
  stall(owner: Owner, ms: number): void {
    if (!owner.isAlive || this.stalled.has(owner)) return;
    const held = this.ready.get(owner) ?? [];
    this.ready.delete(owner);
    this.stalled.set(owner, held);
    this.after(this.world, ms, () => {
      this.stalled.delete(owner);
      if (held.length > 0) this.ready.set(owner, held);
    });
  }

  /** Runs `fn` as a callback of `owner` now: for calls of the driver itself. */
  as<T>(owner: Owner, fn: () => T): T {
    const { current } = this;
    this.current = owner;
    try {
      return fn();
    } finally {
      this.current = current;
    }
  }

  /** Runs callbacks until the condition holds. What a tick throws is an uncaught exception of the process. */
  run(until: () => boolean, hooks: KernelHooks): Promise<void> {
    return new Promise((resolve, reject) => {
      const turn = (): void => {
        let goesOn = true;
        try {
          for (let step = 0; step < TURN_STEPS && goesOn; step++) {
            if (until()) {
              goesOn = false;
              resolve();
            } else if (!this.step(hooks)) {
              goesOn = false;
              reject(new Error("nothing is left to run"));
            }
          }
        } finally {
          if (goesOn) realImmediate(turn);
        }
      };
      // Microtasks do not nest: a turn begins as a callback of the event loop.
      realImmediate(turn);
    });
  }

  /** @returns false if nothing is left to run */
  private step(hooks: KernelHooks): boolean {
    const next = this.take();
    if (next === undefined) return false;
    this.steps++;
    this.current = next.owner;
    try {
      next.fn();
    } catch (error) {
      hooks.uncaught(this.current, error);
    }
    settleAll();
    this.current = this.world;
    return true;
  }

  private take(): { owner: Owner; fn: () => void } | undefined {
    for (;;) {
      const ready = this.takeReady();
      if (ready !== undefined) return ready;
      const timer = this.timers.shift();
      if (timer === undefined) return undefined;
      if (timer.fn === undefined) this.cancelled = Math.max(0, this.cancelled - 1);
      if (timer.fn === undefined || !timer.owner.isAlive) continue;
      this.time = Math.max(this.time, timer.due);
      const { owner, fn } = timer;
      if (this.stalled.has(owner)) {
        // It may be cancelled until then.
        this.post(owner, () => timer.fn?.());
        continue;
      }
      timer.fn = undefined;
      return { owner, fn };
    }
  }

  private takeReady(): { owner: Owner; fn: () => void } | undefined {
    while (this.ready.size > 0) {
      const index = this.ready.size === 1 ? 0 : this.order.below(this.ready.size);
      const [owner, queue] = entryAt(this.ready, index);
      const fn = queue.shift();
      if (queue.length === 0) this.ready.delete(owner);
      if (fn !== undefined && owner.isAlive) return { owner, fn };
      if (!owner.isAlive) this.ready.delete(owner);
    }
    return undefined;
  }
}

function entryAt<K, V>(map: ReadonlyMap<K, V>, index: number): [K, V] {
  let at = 0;
  for (const entry of map) if (at++ === index) return entry;
  throw new RangeError(`no entry ${index}`);
}

export const kernel = new Kernel();
