// Capacity and usage of a volume.

export interface VolumeUsage {
  /** Source of the figures (metric_source): "fs", or a CSI driver's name. */
  source: string;
  capacityBytes?: number | undefined;
  availableBytes?: number | undefined;
  usedBytes?: number | undefined;
  inodes?: number | undefined;
  inodesFree?: number | undefined;
  inodesUsed?: number | undefined;
  /** Only from drivers that report it. */
  condition?: { abnormal: boolean; message: string } | undefined;
}
