// Time of the next sample. Once a second is enough for resources that run out slowly; memory may run out within a
// second, and a disk with much room not within ten. Pure.

import type { EvictionThreshold } from "../../shared/kubernetes/api/eviction-threshold.js";
import type { Observations } from "./observe.js";
import { isDisk, isMemory, SIGNAL_FACTS } from "./signals.js";
import { unitsOf } from "./thresholds.js";

/** Interval between two samples while memory is nearly exhausted. */
const FAST_MS = 100;
/** Distance above its threshold, as a part of the threshold, at which memory is sampled fast. */
const BAND = 0.5;
/** Number of periods within which memory would run out at its present speed. */
const PERIODS_AHEAD = 2;
/**
 * If tasks wait for memory for more than this part of the time, memory counts as short. The samples do not matter then.
 */
const STALLED_PART = 0.05;
/** What no disk of a node takes up within a second: bytes, and inodes. */
const FASTEST = { bytes: 8 * 1024 ** 3, inodes: 500_000 };
/** Longest interval between two looks at the disks; upstream's for all signals. */
const DISKS_MS = 10_000;

export interface Pace {
  periodMs: number;
  thresholds: readonly EvictionThreshold[];
  before: Observations;
  now: Observations;
  /** Part of the time since the last sample that tasks have waited for memory, 0 to 1. */
  stalledPart: number;
}

/** Milliseconds to the next sample. */
export function nextLookMs({ periodMs, thresholds, before, now, stalledPart }: Pace): number {
  const fast = Math.min(FAST_MS, periodMs);
  const hard = thresholds.filter(({ signal, graceMs }) => graceMs === 0 && isMemory(signal));
  const nearly = hard.some(({ signal, value }) => {
    const room = now.get(signal);
    if (room === undefined) return false;
    const limit = unitsOf(value, room.capacity);
    const left = room.available - limit;
    // Already below the threshold: the eviction is in progress.
    if (left < 0) return false;
    if (left < limit * BAND || stalledPart > STALLED_PART) return true;
    const last = before.get(signal);
    if (last === undefined || room.at <= last.at) return false;
    const perMs = (last.available - room.available) / (room.at - last.at);
    return perMs * periodMs * PERIODS_AHEAD > left;
  });
  return nearly ? fast : periodMs;
}

/**
 * Milliseconds between two looks at the disks: each sample, if one of them may be nearly short until the next look, or
 * is not known.
 */
export function diskGapMs(thresholds: readonly EvictionThreshold[], now: Observations, periodMs: number): number {
  const room = thresholds.flatMap(({ signal, value }) => {
    if (!isDisk(signal)) return [];
    const seen = now.get(signal);
    if (seen === undefined) return [0];
    const fastest = SIGNAL_FACTS[signal].resource === "inodes" ? FASTEST.inodes : FASTEST.bytes;
    return [((seen.available - unitsOf(value, seen.capacity) * (1 + BAND)) / fastest) * 1000];
  });
  return Math.max(periodMs, Math.min(DISKS_MS, ...room));
}

/** True if a disk is so full that the pods' figures may be needed soon: a walk takes time. */
export function disksNearlyShort(thresholds: readonly EvictionThreshold[], now: Observations): boolean {
  return thresholds.some(({ signal, value }) => {
    const room = isDisk(signal) && SIGNAL_FACTS[signal].resource !== "inodes" ? now.get(signal) : undefined;
    return room !== undefined && room.available < unitsOf(value, room.capacity) * (1 + BAND);
  });
}
