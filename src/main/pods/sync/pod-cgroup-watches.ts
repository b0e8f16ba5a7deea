// The cgroup directories of pods in which the pleg thread watches for exits of containers.
// Invariant: nothing is watched for a pod that terminates: from then on every exit is one that the kubelet causes.

import type { WatchedPod } from "../../../shared/contracts/pleg.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import type { CgroupManager } from "../../resources/cgroups/cgroup-manager.js";
import type { PlegThread } from "../../threads/pleg-thread.js";

export interface PodCgroupWatchesDeps {
  pleg: Pick<PlegThread, "watch" | "unwatch">;
  cgroups: Pick<CgroupManager, "isLost" | "ensurePod">;
  isTerminating: (uid: PodUid) => boolean;
}

export class PodCgroupWatches {
  /** The pleg thread gets them again when it is restarted. */
  private readonly watched = new Map<PodUid, string[]>();

  constructor(private readonly deps: PodCgroupWatchesDeps) {}

  /** Every watch, for a pleg thread that has just started. */
  all(): WatchedPod[] {
    return [...this.watched].map(([uid, watchDirs]) => ({ uid, watchDirs }));
  }

  /** `watchDirs`: the pod's cgroup first; empty: nothing is watched. */
  set(uid: PodUid, watchDirs: readonly string[]): void {
    const first = watchDirs.slice(0, 1);
    this.watched.set(uid, first);
    this.deps.pleg.watch({ uid, watchDirs: first });
  }

  removed(uid: PodUid): void {
    this.watched.delete(uid);
    this.deps.pleg.unwatch(uid);
  }

  /**
   * An adopted pod runs already: its cgroup gets its limits, and its exits are watched from the first moment. A lost
   * cgroup is not created again beneath a running pod: the pod worker starts the pod again.
   */
  async adopt(pod: Pod, sized: Pod | undefined): Promise<void> {
    const { cgroups, isTerminating } = this.deps;
    if (await cgroups.isLost(pod)) return;
    const { watchDirs } = await cgroups.ensurePod(pod, sized);
    const { uid } = pod.metadata;
    if (!isTerminating(uid)) this.set(uid, watchDirs);
  }
}
