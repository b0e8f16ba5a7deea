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

/** A part of a file system: its room, and what the part takes. */
export function partOf(fs: FsFigures | undefined, at: number, bytes: number, inodes: number): FsFigures {
  return { ...fs, at, usedBytes: bytes, inodesUsed: inodes };
}

export interface VolumeFigures extends FsFigures {
  name: string;
  pvcRef?: { name: string; namespace: string };
  abnormal?: boolean;
}

/** What a pod has on disk. */
export interface PodDisk {
  volumes: readonly VolumeFigures[];
  /** Usage of the pod's volumes on the node's own filesystem. */
  local: { bytes: number; inodes: number };
  /** Log files, by container name. */
  logs: ReadonlyMap<string, { bytes: number; inodes: number }>;
  /** Milliseconds since the epoch. */
  at: number;
}

/** What a container has written, as the runtime counts. */
export interface WritableLayer extends FsFigures {
  device: string;
}
