// Which images may go, in which order, and how much is to be freed. Pure.

import { byEviction } from "../../shared/contracts/image-gc.js";
import type { ImageRecord } from "./records.js";

export interface ImageFs {
  mountpoint: string;
  /** Bytes. */
  capacity: number;
  available: number;
}

export interface Thresholds {
  imageGCHighThresholdPercent: number;
  imageGCLowThresholdPercent: number;
}

export function usedPercent({ capacity, available }: ImageFs): number {
  return 100 - Math.floor((Math.min(available, capacity) * 100) / capacity);
}

/** Bytes to free; 0 below the high threshold. */
export function bytesToFree(fs: ImageFs, limits: Thresholds): number {
  if (usedPercent(fs) < limits.imageGCHighThresholdPercent) return 0;
  const wanted = Math.floor((fs.capacity * (100 - limits.imageGCLowThresholdPercent)) / 100);
  return Math.max(0, wanted - Math.min(fs.available, fs.capacity));
}

/** Unused images, least recently used first; among equals the oldest first. */
export function inEvictionOrder(records: readonly ImageRecord[]): ImageRecord[] {
  return records.filter((record) => !record.inUse && !record.pinned).sort(byEviction);
}

/** Unused for longer than `maxAgeMs`; an image that was never used counts too. */
export function tooOld(ordered: readonly ImageRecord[], now: number, maxAgeMs: number): ImageRecord[] {
  return maxAgeMs <= 0 ? [] : ordered.filter(({ lastUsed }) => now - lastUsed > maxAgeMs);
}

/** May go when space is short: neither used since the run began nor too young. */
export function mayFree(
  ordered: readonly ImageRecord[],
  startedAt: number,
  now: number,
  minAgeMs: number,
): ImageRecord[] {
  return ordered.filter(({ lastUsed, firstSeen }) => lastUsed < startedAt && now - firstSeen >= minAgeMs);
}

/** The next of them that together free at least `bytes`, at most `limit`; no two of one id, which share one grant. */
export function nextBatch(ordered: readonly ImageRecord[], bytes: number, limit: number): ImageRecord[] {
  const batch: ImageRecord[] = [];
  let freed = 0;
  for (const record of ordered) {
    if (freed >= bytes || batch.length === limit || batch.some(({ id }) => id === record.id)) break;
    batch.push(record);
    freed += record.size;
  }
  return batch;
}
