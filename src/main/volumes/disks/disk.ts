// A network disk (iSCSI, Fibre Channel) as a pod wants it, and the kind of disk that its plugin handles.

import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import { VolumeError } from "../volume-error.js";

/** No device appeared for the volume. */
export class DiskAttachError extends Error {
  override readonly name = "DiskAttachError";
}

/** Where the system shows its disks; other places only in tests. */
export interface DiskSystem {
  byPath: string;
  byId: string;
  sysBlock: string;
  scsiHosts: string;
}

export const DISK_SYSTEM: DiskSystem = {
  byPath: "/dev/disk/by-path",
  byId: "/dev/disk/by-id",
  sysBlock: "/sys/block",
  scsiHosts: "/sys/class/scsi_host",
};

export interface Disk {
  /** Directory below plugins/<plugin>: the same for all pods and persistent volumes of the disk. */
  place: string;
  /** As node.status.volumesInUse has it, without the plugin's name. */
  uniqueName: string;
  /** Makes the device appear; idempotent. `directory` is that of `place`. Resolves to its path. */
  attach(directory: string, signal: AbortSignal): Promise<string>;
}

export interface GoneDisk {
  place: string;
  directory: string;
  /** "" when it is not known any more. */
  device: string;
  /** The disk stays: pods use it in the other volume mode. */
  keep: boolean;
}

export interface DiskKind {
  /** "kubernetes.io/iscsi". */
  plugin: string;
  /** Depth of the directories below plugins/<plugin>. */
  depth: 1 | 2;
  /** Returns the volume's unique name from a mount point that an earlier kubelet left; undefined: not this plugin's. */
  uniqueNameOf(place: string): string | undefined;
  /** Makes the device disappear after its last use, and empties the directory; idempotent. */
  detach(gone: GoneDisk): Promise<void>;
}

export interface DiskRequest {
  pod: Pod;
  /** Name of the directory: the persistent volume's, or that of the pod's volume. */
  name: string;
  disk: Disk;
  fsType: string | undefined;
  readOnly: boolean;
  mountOptions: readonly string[];
  /** Access modes of the persistent volume; empty for a volume that the pod names itself. */
  accessModes: readonly string[];
  /** The volume as the pod names it. */
  podVolume: string;
  signal: AbortSignal;
}

/** Directories are made of words of API objects. @throws VolumeError */
export function pathWord(what: string, value: unknown): string {
  if (typeof value === "string" && /^[A-Za-z0-9[][-A-Za-z0-9._:[\]]{0,223}$/.test(value) && !value.includes(".."))
    return value;
  throw new VolumeError(
    `${what} ${JSON.stringify(value)} is not valid: letters, digits, '.', ':', '-', '_' and brackets`,
  );
}
