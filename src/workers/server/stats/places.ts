// A cache of the pods' cgroup paths: finding one takes as many file reads as reading its usage. A path is searched
// again if the pod's object changed (its status has changed), or if a cgroup could not be read. It is also searched
// twice a minute, for a sandbox that main has not reported.

import type { Clock } from "../../../shared/base/clock/clock.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import type { PodCgroups, PodPlace } from "../../../shared/node/stats/pod-cgroups.js";

const LIFE_MS = 30_000;

export interface PlacesDeps {
  cgroups: Pick<PodCgroups, "find">;
  clock: Pick<Clock, "monotonic">;
  /** The pod's cgroup was found, for the first time or again. */
  found: (path: string) => void;
}

export class Places {
  private readonly known = new Map<PodUid, { place: PodPlace; at: number }>();

  constructor(private readonly deps: PlacesDeps) {}

  /** undefined: the pod has no cgroup, not yet or no more. @throws OperatorError */
  find(pod: Pod): PodPlace | undefined {
    const { uid } = pod.metadata;
    const { cgroups, clock, found } = this.deps;
    const now = clock.monotonic();
    const known = this.known.get(uid);
    if (known !== undefined && known.place.pod === pod && now - known.at < LIFE_MS) return known.place;
    const place = cgroups.find(pod);
    if (place === undefined) this.known.delete(uid);
    else {
      this.known.set(uid, { place, at: now });
      if (known?.place.pod !== pod) found(place.path);
    }
    return place;
  }

  /** Something of it has vanished. */
  forget(uid: PodUid): void {
    this.known.delete(uid);
  }

  /** Forgets pods that are no longer requested. */
  prune(): void {
    const now = this.deps.clock.monotonic();
    for (const [uid, { at }] of this.known) if (now - at >= 2 * LIFE_MS) this.known.delete(uid);
  }
}
