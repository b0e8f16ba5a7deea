// Volume sources (core/v1). Sources the agent does not mount yet are kept as they came, so that /pods shows them.
import type { Quantity } from "./meta.js";

export type HostPathType =
  "" | "DirectoryOrCreate" | "Directory" | "FileOrCreate" | "File" | "Socket" | "CharDevice" | "BlockDevice";

export interface EmptyDirVolumeSource {
  /** "" (the node's disk), "Memory" (tmpfs), "HugePages" or "HugePages-<size>". */
  medium?: string;
  sizeLimit?: Quantity;
}

export interface HostPathVolumeSource {
  path: string;
  type?: HostPathType;
}

/** The files of an image, mounted by the runtime. */
export interface ImageVolumeSource {
  /** As a container's image. */
  reference?: string;
  pullPolicy?: "Always" | "IfNotPresent" | "Never";
}

export interface Volume {
  name: string;
  emptyDir?: EmptyDirVolumeSource;
  hostPath?: HostPathVolumeSource;
  image?: ImageVolumeSource;
  /** Every other source, by its field name (secret, configMap, projected, csi, …). */
  [source: string]: unknown;
}
