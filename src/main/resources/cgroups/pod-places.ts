// The QoS tiers in which this kubelet created or found each pod's cgroup. The removal of a pod then skips the other
// tiers. Only a hint: a pod without an entry may have its cgroup in any tier.

import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import type { CgroupName } from "../../../shared/node/cgroup/name.js";

/** More entries than a node has pods. The entries that were unused for the longest time are dropped first. */
const KEPT = 4096;

export class PodPlaces {
  private readonly byUid = new Map<PodUid, CgroupName[]>();

  add(uid: PodUid, name: CgroupName): void {
    const before = this.byUid.get(uid) ?? [];
    this.byUid.delete(uid);
    const known = before.some((other) => other.join("/") === name.join("/"));
    this.byUid.set(uid, known ? before : [...before, name]);
    for (const oldest of this.byUid.keys()) {
      if (this.byUid.size <= KEPT) break;
      this.byUid.delete(oldest);
    }
  }

  of(uid: PodUid): readonly CgroupName[] | undefined {
    return this.byUid.get(uid);
  }
}
