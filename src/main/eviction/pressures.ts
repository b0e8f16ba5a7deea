// What the node is short of, as the eviction thread last said: kept while the thread is away, for admission and for the node's
// conditions.
import type { Pressure } from "../../shared/contracts/node-status.js";

export class NodePressures {
  private now: readonly Pressure[] = [];
  private readonly listeners = new Set<(pressures: readonly Pressure[]) => void>();

  get current(): readonly Pressure[] {
    return this.now;
  }

  /** @returns false when nothing changes by it */
  set(pressures: readonly Pressure[]): boolean {
    if (pressures.length === this.now.length && pressures.every((one) => this.now.includes(one))) return false;
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
