// Fibre Channel volumes of pods and of claims. Loaded with the first of them, or with a disk that an earlier kubelet
// left.

import type { FCVolumeSource } from "../../../shared/kubernetes/api/volume.js";
import type { DiskVolumesOptions } from "../disks/disk-volumes.js";
import { DISK_SYSTEM } from "../disks/disk.js";
import { networkDiskPlugin, networkDisks, type NetworkDisks } from "../disks/network-disks.js";
import type { VolumePlugin } from "../plugin.js";
import { FC_PLUGIN, fcDisk, fcKind } from "./fc-disk.js";

export function fcVolumes(options: DiskVolumesOptions, system = DISK_SYSTEM): Promise<NetworkDisks<FCVolumeSource>> {
  return networkDisks<FCVolumeSource>(fcKind(system, options.log), options, ({ source }) => fcDisk(source, system));
}

export function fcPlugin(disks: () => Promise<NetworkDisks<FCVolumeSource>>): VolumePlugin {
  return networkDiskPlugin({ name: FC_PLUGIN, source: "fc", sourceOf: ({ fc }) => fc }, disks);
}
