// The actual state of the world: which volumes are set up, as far as this kubelet knows. It starts from what an earlier
// kubelet left on disk. Invariant: nothing is deleted because it is missing here; disk and mount table decide that.

import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import { isImagePlace, type VolumePlace } from "../place.js";

export interface SetUpVolume {
  uid: PodUid;
  volume: string;
  plugin: string;
  /** undefined: found on disk, not yet requested in this kubelet process. */
  place: VolumePlace | undefined;
}

export class ActualState {
  private readonly volumes = new Map<string, SetUpVolume>();

  setUp(volume: SetUpVolume): void {
    this.volumes.set(volumeKey(volume.uid, volume.volume), volume);
  }

  /** A mount found on disk, maybe under another name, gets the pod's own volume name. */
  isAt(volume: SetUpVolume & { place: VolumePlace }): void {
    const { uid, place } = volume;
    if (!isImagePlace(place) && place.volumeName !== undefined) {
      const key = volumeKey(uid, place.volumeName);
      if (this.volumes.get(key)?.place === undefined) this.volumes.delete(key);
    }
    this.setUp(volume);
  }

  /** An earlier kubelet process mounted some volume of the pod, and no sync has requested it yet. */
  hasLeft(uid: PodUid): boolean {
    return this.ofPod(uid).some(({ place }) => place === undefined);
  }

  tornDown(uid: PodUid, volume: string): void {
    this.volumes.delete(volumeKey(uid, volume));
  }

  has(uid: PodUid, volume: string): boolean {
    return this.volumes.has(volumeKey(uid, volume));
  }

  place(uid: PodUid, volume: string): VolumePlace | undefined {
    return this.volumes.get(volumeKey(uid, volume))?.place;
  }

  ofPod(uid: PodUid): SetUpVolume[] {
    return [...this.volumes.values()].filter((volume) => volume.uid === uid);
  }

  /** Plugin name to number of volumes. */
  counts(): Map<string, number> {
    const counts = new Map<string, number>();
    for (const { plugin } of this.volumes.values()) counts.set(plugin, (counts.get(plugin) ?? 0) + 1);
    return counts;
  }
}

/** Neither part can hold a slash: names were checked before anything was made of them. */
export function volumeKey(uid: PodUid, volume: string): string {
  return `${uid}/${volume}`;
}
