// Orders that main executes. No further pod is evicted while an order is pending (at most 30 s), or before the freed
// resources can be visible.

import type { PodUid } from "../../shared/kubernetes/identifiers.js";

const WAIT_MS = 30000;
/** Time after a pod's termination until its memory and files no longer show in samples. */
const SETTLE_MS = 1000;

interface Order {
  generation: number;
  /** Monotonic ms. */
  until: number;
}

export class Orders {
  private readonly orders = new Map<PodUid, Order>();
  private settledAt = -Infinity;

  placed(uid: PodUid, generation: number, now: number): void {
    this.orders.set(uid, { generation, until: now + WAIT_MS });
  }

  /** The pod of the order was removed. */
  ended(uid: PodUid, now: number): void {
    if (this.orders.delete(uid)) this.settledAt = now + SETTLE_MS;
  }

  /** The pod as main knows it now: an order for an older generation was dropped. */
  confirm(uid: PodUid, generation: number): void {
    const order = this.orders.get(uid);
    if (order !== undefined && order.generation < generation) this.orders.delete(uid);
  }

  /** True if this pod was ever ordered away. */
  has(uid: PodUid): boolean {
    return this.orders.has(uid);
  }

  /** True if it is too early for another order. */
  block(now: number): boolean {
    return now < this.settledAt || [...this.orders.values()].some(({ until }) => now < until);
  }

  clear(): void {
    this.orders.clear();
  }
}
