// The volumes of one kind of network disk, for the plugin of pods and the plugin of claims.

import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import type { Volume } from "../../../shared/kubernetes/api/volume.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import { asVolumeErrors } from "../claims/volume-errors.js";
import type { DevicePlace, HostPlace } from "../place.js";
import type { VolumePlugin } from "../plugin.js";
import { DiskDevices } from "./disk-devices.js";
import { DiskVolumes, type DiskVolumesOptions } from "./disk-volumes.js";
import type { Disk, DiskKind } from "./disk.js";

export interface NetworkDiskRequest<Source> {
  pod: Pod;
  /** Name of the persistent volume, or of the pod's own volume. */
  name: string;
  source: Source;
  readOnly: boolean;
  mountOptions: readonly string[];
  /** Access modes of the persistent volume; empty for a volume that the pod names itself. */
  accessModes: readonly string[];
  /** The volume as the pod names it. */
  podVolume: string;
  signal: AbortSignal;
}

export interface NetworkDisks<Source> {
  setUp(request: NetworkDiskRequest<Source>): Promise<HostPlace>;
  /** As a block device. */
  map(request: NetworkDiskRequest<Source>): Promise<DevicePlace>;
  tearDown(uid: PodUid, name: string): Promise<void>;
  unmap(uid: PodUid, name: string): Promise<void>;
  stop(): Promise<void>;
}

/** Adopts the disks of the previous kubelet process. */
export async function networkDisks<Source extends { fsType?: string }>(
  kind: DiskKind,
  options: DiskVolumesOptions,
  diskOf: (request: NetworkDiskRequest<Source>) => Disk,
): Promise<NetworkDisks<Source>> {
  const volumes = new DiskVolumes(kind, options);
  const devices = new DiskDevices(kind, options);
  await volumes.recover(await devices.recover());
  return {
    async setUp(request) {
      const { source, ...asked } = request;
      return volumes.setUp({ ...asked, disk: diskOf(request), fsType: source.fsType });
    },
    async map(request) {
      const { pod, name, readOnly, signal } = request;
      return devices.map({ pod, name, disk: diskOf(request), readOnly, signal });
    },
    tearDown: (uid, name) => volumes.tearDown(uid, name),
    unmap: (uid, name) => devices.unmap(uid, name),
    stop: () => volumes.stop(),
  };
}

/** The plugin of such volumes that a pod names itself; it unmounts those of claims too. */
export function networkDiskPlugin<Source extends { readOnly?: boolean }>(
  plugin: { name: string; source: string; sourceOf: (volume: Volume) => Source | undefined },
  disks: () => Promise<NetworkDisks<Source>>,
): VolumePlugin {
  return {
    name: plugin.name,
    source: plugin.source,
    setUp: (request) =>
      asVolumeErrors(request, async () => {
        const { pod, volume, signal } = request;
        const source = plugin.sourceOf(volume);
        if (source === undefined) throw new Error(`the volume has no ${plugin.source}`);
        const readOnly = source.readOnly === true;
        const inline = { mountOptions: [], accessModes: [], podVolume: volume.name };
        return (await disks()).setUp({ ...inline, pod, name: volume.name, source, readOnly, signal });
      }),
    tearDown: async (uid, name) => (await disks()).tearDown(uid, name),
    unmapDevice: async (uid, name) => (await disks()).unmap(uid, name),
    stop: async () => (await disks()).stop(),
  };
}
