// The desired state of the world: which volumes the pods of this node need. Written when a pod requests its volumes,
// and forgotten when they are torn down. Invariant: a pod that is being torn down wants nothing.

import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import type { Volume } from "../../../shared/kubernetes/api/volume.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import type { VolumeDoer, VolumePlugin } from "../plugin.js";

export interface WantedVolume {
  volume: Volume;
  plugin: VolumePlugin;
  /** Known from the first attempt on, where the plugin has to find out. */
  doer?: VolumeDoer;
}

export interface WantedPod {
  pod: Pod;
  volumes: readonly WantedVolume[];
}

export class DesiredState {
  private readonly pods = new Map<PodUid, WantedPod>();

  want(pod: Pod, volumes: readonly WantedVolume[]): void {
    this.pods.set(pod.metadata.uid, { pod, volumes });
  }

  of(uid: PodUid): readonly WantedVolume[] {
    return this.pods.get(uid)?.volumes ?? [];
  }

  has(uid: PodUid): boolean {
    return this.pods.has(uid);
  }

  forget(uid: PodUid): void {
    this.pods.delete(uid);
  }

  /** Plugin name to number of volumes; without those whose claims are not bound yet. */
  counts(): Map<string, number> {
    const counts = new Map<string, number>();
    for (const { volumes } of this.pods.values()) {
      for (const { plugin, doer } of volumes) {
        if (plugin.indirect === true && doer === undefined) continue;
        const name = doer?.plugin ?? plugin.name;
        counts.set(name, (counts.get(name) ?? 0) + 1);
      }
    }
    return counts;
  }
}
