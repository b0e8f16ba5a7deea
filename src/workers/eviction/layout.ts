// The layout of the node's disks. It decides what can be reclaimed on each disk, and which data of pods counts there.
// Layouts and tables are upstream's; disks that are shared in another way get the nearest layout.

import type { EvictionSignal } from "../../shared/kubernetes/api/eviction-threshold.js";
import { SIGNAL_FACTS } from "./signals.js";

/**
 * single: everything on one disk. dedicated: images and writable layers on a separate disk. split: images on a separate
 * disk, writable layers beside the kubelet's files.
 */
export type DiskLayout = "single" | "dedicated" | "split";

/** Device numbers; undefined: not known (yet). */
export interface Devices {
  node: number | undefined;
  images: number | undefined;
  containers: number | undefined;
}

export function layoutOf({ node, images, containers }: Devices): DiskLayout {
  if (node === undefined || images === undefined || images === node) return "single";
  return containers === undefined || containers === images ? "dedicated" : "split";
}

export type Reclaim = "containers" | "images";

const DISK_RECLAIMS: Readonly<Record<DiskLayout, Partial<Record<string, readonly Reclaim[]>>>> = {
  single: {
    nodefs: ["containers", "images"],
    imagefs: ["containers", "images"],
    containerfs: ["containers", "images"],
  },
  dedicated: { imagefs: ["containers", "images"], containerfs: ["containers", "images"] },
  split: { nodefs: ["containers"], imagefs: ["images"], containerfs: ["containers"] },
};

/** The resources that the node can reclaim before it evicts a pod. */
export function reclaimsOf(layout: DiskLayout, signal: EvictionSignal): readonly Reclaim[] {
  return DISK_RECLAIMS[layout][SIGNAL_FACTS[signal].place] ?? [];
}

/** Parts of a pod's usage on a disk. Images belong to no pod. */
export interface Measured {
  readonly layers: boolean;
  readonly logs: boolean;
  readonly volumes: boolean;
}

const ALL: Measured = { layers: true, logs: true, volumes: true };
const FILES: Measured = { layers: false, logs: true, volumes: true };
const LAYERS: Measured = { layers: true, logs: false, volumes: false };
const NOTHING: Measured = { layers: false, logs: false, volumes: false };

export function measuredOf(layout: DiskLayout, signal: EvictionSignal): Measured {
  const onImages = SIGNAL_FACTS[signal].place === "imagefs";
  switch (layout) {
    case "single":
      return ALL;
    case "dedicated":
      return SIGNAL_FACTS[signal].place === "nodefs" ? FILES : LAYERS;
    case "split":
      return onImages ? NOTHING : ALL;
  }
}

/** True if a container's writable layer counts against its limit: only if it is on the kubelet's disk. */
export const layersOnNodeDisk = (layout: DiskLayout): boolean => layout !== "dedicated";
