// Capacity and usage of a volume.

export interface VolumeUsage {
  /** Source of the figures (metric_source): "fs", or a CSI driver's name. */
  source: string;
  capacityBytes?: number;
  availableBytes?: number;
  usedBytes?: number;
  inodes?: number;
  inodesFree?: number;
  inodesUsed?: number;
  /** Only from drivers that report it. */
  condition?: { abnormal: boolean; message: string };
}
