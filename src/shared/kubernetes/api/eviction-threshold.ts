// Eviction thresholds: the signal and the value below which pods are evicted.
// Source: https://kubernetes.io/docs/concepts/scheduling-eviction/node-pressure-eviction/

import type { QuantityFormat } from "./quantity.js";

export const EVICTION_SIGNALS = [
  "memory.available",
  "allocatableMemory.available",
  "nodefs.available",
  "nodefs.inodesFree",
  "imagefs.available",
  "imagefs.inodesFree",
  "containerfs.available",
  "containerfs.inodesFree",
  "pid.available",
] as const;

export type EvictionSignal = (typeof EVICTION_SIGNALS)[number];

/**
 * Bytes, inodes or process ids, in whole units, with the format it was written in; or a percentage (10 is 10%) of the
 * capacity.
 */
export type ThresholdValue =
  | { readonly kind: "quantity"; readonly units: bigint; readonly format?: QuantityFormat }
  | { readonly kind: "percent"; readonly percent: number };

/** Met while less than `value` is available. */
export interface EvictionThreshold {
  readonly signal: EvictionSignal;
  readonly value: ThresholdValue;
  /** Milliseconds the threshold must be met before pods go; 0 for a hard one. */
  readonly graceMs: number;
  readonly hard: boolean;
  /** Once met: how much beyond `value` must be free again. */
  readonly minReclaim?: ThresholdValue;
}

/** A percentage of the capacity, computed in single precision and cut off, as upstream does. */
export function partOf(capacity: number, percent: number): number {
  return Math.trunc(capacity * Math.fround(Math.fround(percent) / 100));
}

export function isEvictionSignal(name: string): name is EvictionSignal {
  return (EVICTION_SIGNALS as readonly string[]).includes(name);
}
