// In which tiers a pod has, or had, its cgroup, as far as this kubelet has made or seen it. It spares the end of a pod the
// look into tiers where it never was. A hint only: who is not known here may be anywhere.
import type { CgroupName } from "../../../shared/cgroup/name.js";

/** More than a node has pods; those longest unused are forgotten first. */
const KEPT = 4096;

export class PodPlaces {
  private readonly byUid = new Map<string, CgroupName[]>();

  add(uid: string, name: CgroupName): void {
    const before = this.byUid.get(uid) ?? [];
    this.byUid.delete(uid);
    const known = before.some((other) => other.join("/") === name.join("/"));
    this.byUid.set(uid, known ? before : [...before, name]);
    for (const oldest of this.byUid.keys()) {
      if (this.byUid.size <= KEPT) break;
      this.byUid.delete(oldest);
    }
  }

  of(uid: string): readonly CgroupName[] | undefined {
    return this.byUid.get(uid);
  }
}
