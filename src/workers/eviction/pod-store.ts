// The running pods, as main reports them, and the pods with an eviction order.

import type { EvictionDelta, EvictionPod } from "../../shared/contracts/eviction.js";
import type { PodUid } from "../../shared/kubernetes/identifiers.js";
import { Orders } from "./orders.js";

export class PodStore {
  readonly orders = new Orders();
  private readonly pods = new Map<PodUid, EvictionPod>();

  /** Replaces all pods. `ordered`: pods that main is terminating on orders of an earlier run of this thread. */
  set(pods: readonly EvictionPod[], ordered: readonly PodUid[], now: number): void {
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

  has(uid: PodUid): boolean {
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
