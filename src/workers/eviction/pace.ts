// When to look next. Once a second is enough for all that runs out slowly; memory may be gone within one. Pure.
import type { EvictionThreshold } from "../../shared/api/eviction-threshold.js";
import type { Observations } from "./observe.js";
import { isDisk, isMemory, SIGNAL_FACTS } from "./signals.js";
import { unitsOf } from "./thresholds.js";

/** Between two looks while memory is nearly out. */
export const FAST_MS = 100;
/** This near above its threshold, as a part of the threshold, memory is watched closely. */
const BAND = 0.5;
/** It would be out within so many periods, at the speed it falls. */
const PERIODS_AHEAD = 2;
/** Tasks wait for memory for this part of the time: the kernel is short of it, whatever the figures say. */
const STALLED_PART = 0.05;

export interface Pace {
  periodMs: number;
  thresholds: readonly EvictionThreshold[];
  before: Observations;
  now: Observations;
  /** Part of the time since the last look that tasks have waited for memory, 0 to 1. */
  stalledPart: number;
}

/** Milliseconds to the next look. */
export function nextLookMs({ periodMs, thresholds, before, now, stalledPart }: Pace): number {
  const fast = Math.min(FAST_MS, periodMs);
  const hard = thresholds.filter(({ signal, graceMs }) => graceMs === 0 && isMemory(signal));
  const nearly = hard.some(({ signal, value }) => {
    const room = now.get(signal);
    if (room === undefined) return false;
    const limit = unitsOf(value, room.capacity);
    const left = room.available - limit;
    // Below it already: what is to be done is being done.
    if (left < 0) return false;
    if (left < limit * BAND || stalledPart > STALLED_PART) return true;
    const last = before.get(signal);
    if (last === undefined || room.at <= last.at) return false;
    const perMs = (last.available - room.available) / (room.at - last.at);
    return perMs * periodMs * PERIODS_AHEAD > left;
  });
  return nearly ? fast : periodMs;
}

/** Is a disk so full that the pods' figures may be needed soon? Walking them takes its time. */
export function disksNearlyShort(thresholds: readonly EvictionThreshold[], now: Observations): boolean {
  return thresholds.some(({ signal, value }) => {
    const room = isDisk(signal) && SIGNAL_FACTS[signal].resource !== "inodes" ? now.get(signal) : undefined;
    return room !== undefined && room.available < unitsOf(value, room.capacity) * (1 + BAND);
  });
}
