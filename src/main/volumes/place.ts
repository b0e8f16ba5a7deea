// Where a container finds a volume: a path of the node, or the files of an image, which the runtime mounts itself.
import type { ImageVolumeSource } from "../../shared/api/volume.js";

export type VolumePlace = HostPlace | ImagePlace;

export interface HostPlace {
  hostPath: string;
  /** Containers may only read, whatever their mounts say. */
  readOnly?: true;
}
export interface ImagePlace {
  /** What to fetch before the first container that mounts it; the runtime gets the resolved reference. */
  image: ImageVolumeSource;
}

export function isImagePlace(place: VolumePlace): place is ImagePlace {
  return "image" in place;
}
