// The running pods, as main reports them, and the pods with an eviction order.
import type { EvictionDelta, EvictionPod } from "../../shared/contracts/eviction.js";

export class PodStore {
  readonly orders = new Orders();
  private readonly pods = new Map<string, EvictionPod>();

  /** Replaces all pods. `ordered`: UIDs of pods that main is terminating on orders of an earlier run of this thread. */
  set(pods: readonly EvictionPod[], ordered: readonly string[], now: number): void {
    this.pods.clear();
    this.orders.clear();
    for (const pod of pods) this.pods.set(pod.uid, pod);
    for (const uid of ordered) this.orders.placed(uid, this.pods.get(uid)?.generation ?? 0, now);
  }

  apply({ set, ended }: EvictionDelta, now: number): void {
    for (const pod of set) {
      this.pods.set(pod.uid, pod);
      this.orders.confirm(pod.uid, pod.generation);
    }
    for (const uid of ended) {
      this.pods.delete(uid);
      this.orders.ended(uid, now);
    }
  }

  all(): EvictionPod[] {
    return [...this.pods.values()];
  }

  has(uid: string): boolean {
    return this.pods.has(uid);
  }

  /** The pods that may be evicted. */
  candidates(): EvictionPod[] {
    return this.all().filter(({ critical }) => !critical);
  }

  /** True if this is still main's latest version of the pod. */
  isCurrent(pod: EvictionPod): boolean {
    return this.pods.get(pod.uid) === pod;
  }

  /**
   * Returns the next pod to evict. A pod that already has an eviction order is returned only if no other candidate
   * remains.
   */
  first(ranked: readonly EvictionPod[]): EvictionPod | undefined {
    const current = ranked.filter((pod) => this.isCurrent(pod));
    return current.find(({ uid }) => !this.orders.has(uid)) ?? current[0];
  }
}

// Orders that main executes. No further pod is evicted while an order is pending (at most 30 s), or before the freed resources can be
// visible.

const WAIT_MS = 30_000;
/** Time after a pod's termination until its memory and files no longer show in samples. */
const SETTLE_MS = 1000;

interface Order {
  generation: number;
  /** Monotonic ms. */
  until: number;
}

class Orders {
  private readonly orders = new Map<string, Order>();
  private settledAt = -Infinity;

  placed(uid: string, generation: number, now: number): void {
    this.orders.set(uid, { generation, until: now + WAIT_MS });
  }

  /** The pod of the order was removed. */
  ended(uid: string, now: number): void {
    if (this.orders.delete(uid)) this.settledAt = now + SETTLE_MS;
  }

  /** The pod as main knows it now: an order for an older generation was dropped. */
  confirm(uid: string, generation: number): void {
    const order = this.orders.get(uid);
    if (order !== undefined && order.generation < generation) this.orders.delete(uid);
  }

  /** True if this pod was ever ordered away. */
  has(uid: string): boolean {
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
