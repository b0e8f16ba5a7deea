// Orders that main carries out. While one is under way, its end has been waited for less than 30 s, or what it freed may not show
// yet, no further pod has to go.
const WAIT_MS = 30_000;
/** After a pod's end: for samples in which its memory and files are gone. */
const SETTLE_MS = 1000;

interface Order {
  generation: number;
  /** Monotonic ms. */
  until: number;
}

export class Orders {
  private readonly orders = new Map<string, Order>();
  private settledAt = -Infinity;

  placed(uid: string, generation: number, now: number): void {
    this.orders.set(uid, { generation, until: now + WAIT_MS });
  }

  /** Its pod is gone. */
  ended(uid: string, now: number): void {
    if (this.orders.delete(uid)) this.settledAt = now + SETTLE_MS;
  }

  /** The pod as main knows it now: an order by an older generation was dropped. */
  confirm(uid: string, generation: number): void {
    const order = this.orders.get(uid);
    if (order !== undefined && order.generation < generation) this.orders.delete(uid);
  }

  /** Has this pod been ordered away, however long ago? */
  has(uid: string): boolean {
    return this.orders.has(uid);
  }

  /** Is it too early for another? */
  block(now: number): boolean {
    return now < this.settledAt || [...this.orders.values()].some(({ until }) => now < until);
  }

  clear(): void {
    this.orders.clear();
  }
}
