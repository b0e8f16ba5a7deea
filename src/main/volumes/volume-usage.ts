// How full a volume is.

export interface VolumeUsage {
  /** Where the figures come from (metric_source): "fs", or a CSI driver's name. */
  source: string;
  capacityBytes?: number;
  availableBytes?: number;
  usedBytes?: number;
  inodes?: number;
  inodesFree?: number;
  inodesUsed?: number;
  /** Of drivers that can tell. */
  condition?: { abnormal: boolean; message: string };
}
