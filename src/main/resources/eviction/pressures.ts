// The node pressures that the eviction thread reported last. Kept while the thread restarts, for admission and for the
// node's conditions.

import type { Clock } from "../../../shared/base/clock/clock.js";
import type { Pressure } from "../../../shared/contracts/node-status.js";

export class NodePressures {
  private now: readonly Pressure[] = [];
  private readonly began = new Map<Pressure, number>();
  private readonly listeners = new Set<(pressures: readonly Pressure[]) => void>();

  constructor(private readonly clock: Pick<Clock, "now">) {}

  /** Those that hold, with the moment at which they began, milliseconds since the epoch. */
  since(): { type: Pressure; since: number }[] {
    return this.now.map((type) => ({ type, since: this.began.get(type) ?? this.clock.now() }));
  }

  get current(): readonly Pressure[] {
    return this.now;
  }

  /** @returns false when nothing changes by it */
  set(pressures: readonly Pressure[]): boolean {
    if (pressures.length === this.now.length && pressures.every((one) => this.now.includes(one))) return false;
    for (const type of this.now) if (!pressures.includes(type)) this.began.delete(type);
    for (const type of pressures) if (!this.began.has(type)) this.began.set(type, this.clock.now());
    this.now = [...pressures];
    for (const listener of this.listeners) listener(this.now);
    return true;
  }

  /** Calls the listener now and at each change. Returns a function that stops it. */
  follow(listener: (pressures: readonly Pressure[]) => void): () => void {
    this.listeners.add(listener);
    listener(this.now);
    return () => this.listeners.delete(listener);
  }
}
