// The users of images: every container in the runtime, and every pod that is to run here. A pod uses an image by the
// names in its definition and by the ids to which they were resolved.
// Invariant: an image that was made ready for a container counts as used while its pod is wanted. The name may be given
// to another image meanwhile.

import { keysOfImage, keysOfReference, type NamedImage } from "../../../shared/kubernetes/api/image-keys.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import type { ObservedPod } from "../../../shared/kubernetes/cri/observed-pod.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";

export interface ImageUsersSource {
  /** All pods as last observed in the runtime. */
  observed(): Iterable<ObservedPod>;
  /** Pods that run or will. */
  wanted(): Iterable<Pod>;
}

export class ImageUsers {
  /** By pod and by the container or volume that uses the image. */
  private readonly ready = new Map<PodUid, Map<string, string>>();

  constructor(private readonly source: ImageUsersSource) {}

  /** The image is there for a container or volume that is about to be made. */
  madeReady(uid: PodUid, user: string, image: string): void {
    const ofPod = this.ready.get(uid) ?? new Map<string, string>();
    ofPod.set(user, image);
    this.ready.set(uid, ofPod);
  }

  /** Keys (shared/kubernetes/api/image-name.ts) of all that is used now. */
  keys(): Set<string> {
    const references = new Set<string>();
    for (const { containers } of this.source.observed()) {
      for (const { image, imageRef, imageId } of containers) {
        for (const reference of [image?.image ?? "", imageRef, imageId]) references.add(reference);
      }
    }
    const wanted = new Set<PodUid>();
    for (const pod of this.source.wanted()) {
      wanted.add(pod.metadata.uid);
      for (const reference of referencesOf(pod)) references.add(reference);
    }
    for (const [uid, images] of this.ready) {
      if (!wanted.has(uid)) this.ready.delete(uid);
      else for (const image of images.values()) references.add(image);
    }
    return new Set([...references].flatMap(keysOfReference));
  }

  /** Those of the images that are used. */
  used<T extends NamedImage>(images: readonly T[]): T[] {
    const keys = this.keys();
    return images.filter((image) => keysOfImage(image).some((key) => keys.has(key)));
  }
}

/** The images in a pod's definition: of its containers, and of its image volumes. */
function referencesOf({ spec }: Pod): string[] {
  const containers = [...spec.containers, ...(spec.initContainers ?? []), ...(spec.ephemeralContainers ?? [])];
  const references = [
    ...containers.map(({ image }) => image),
    ...(spec.volumes ?? []).map(({ image }) => image?.reference),
  ];
  return references.flatMap((reference = "") => (reference === "" ? [] : [reference]));
}
