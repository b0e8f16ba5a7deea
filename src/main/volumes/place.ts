// The place of a volume for a container: a path on the node, an image or a device.

import type { ImageVolumeSource } from "../../shared/kubernetes/api/volume.js";

export type VolumePlace = HostPlace | ImagePlace | DevicePlace;

export interface HostPlace {
  hostPath: string;
  /** The volume is read-only, even for a writable mount of the container. */
  readOnly?: true | undefined;
  /** The volume's name on disk, where it is not the pod's name for it: a persistent volume's. */
  volumeName?: string;
  /** Processes of the pod are in this group. */
  group?: number;
  /** On a node with SELinux the runtime sets the container's label on the files. */
  relabel?: true;
  /** The usage of its file system is not the volume's. */
  unmeasured?: true | undefined;
}
export interface ImagePlace {
  /** The image to pull before the first container that mounts it; the runtime receives the resolved reference. */
  image: ImageVolumeSource;
}

export interface DevicePlace {
  /** A link to the device's node. */
  devicePath: string;
  readOnly?: true | undefined;
  /** As of a HostPlace. */
  volumeName?: string;
  group?: number;
}

export function isDevicePlace(place: VolumePlace): place is DevicePlace {
  return "devicePath" in place;
}
export function isImagePlace(place: VolumePlace): place is ImagePlace {
  return "image" in place;
}
