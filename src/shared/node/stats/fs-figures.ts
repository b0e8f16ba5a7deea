// The size of a filesystem, or the usage of a directory in it. Bytes and inodes.

export interface FsFigures {
  /** Milliseconds since the epoch. */
  at: number;
  availableBytes?: number;
  capacityBytes?: number;
  usedBytes?: number;
  inodesFree?: number;
  inodes?: number;
  inodesUsed?: number;
}

/** A part of a file system: the space of the file system, and the space that the part uses. */
export function partOf(fs: FsFigures | undefined, at: number, bytes: number, inodes: number): FsFigures {
  return { ...fs, at, usedBytes: bytes, inodesUsed: inodes };
}

export interface VolumeFigures extends FsFigures {
  name: string;
  pvcRef?: { name: string; namespace: string };
  abnormal?: boolean;
}

/** Disk usage of a pod. */
export interface PodDisk {
  volumes: readonly VolumeFigures[];
  /** Usage of the pod's volumes on the node's own filesystem. */
  local: { bytes: number; inodes: number };
  /** Log files, by container name. */
  logs: ReadonlyMap<string, { bytes: number; inodes: number }>;
  /** Milliseconds since the epoch. */
  at: number;
}

/** Bytes that a container has written, as the runtime counts them. */
export interface WritableLayer extends FsFigures {
  device: string;
}
