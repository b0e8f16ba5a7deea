// The thresholds as they are compared: the configured ones, those derived from them, and the value of each in units.

import {
  partOf,
  type EvictionSignal,
  type EvictionThreshold,
  type ThresholdValue,
} from "../../shared/kubernetes/api/eviction-threshold.js";
import type { ExactQuantity } from "../../shared/kubernetes/api/quantity.js";
import type { DiskLayout } from "./layout.js";
import type { Observation, Observations } from "./observe.js";

const NANO = 1_000_000_000n;

/** There is at most one hard and one soft threshold of a signal. */
export const keyOf = ({ signal, hard }: EvictionThreshold): string => `${signal}/${hard ? "hard" : "soft"}`;

/**
 * The pods' own cgroup has the hard limit of the node's memory, if its limit is enforced. Thresholds of the containers'
 * file system are those of its disk, independent of the configuration.
 */
export function effectiveThresholds(
  configured: readonly EvictionThreshold[],
  { enforcePods, layout }: { enforcePods: boolean; layout: DiskLayout },
): EvictionThreshold[] {
  const own = configured.filter(
    ({ signal }) => !signal.startsWith("containerfs.") && signal !== "allocatableMemory.available",
  );
  const asSignal = (threshold: EvictionThreshold, signal: EvictionSignal): EvictionThreshold => ({
    ...threshold,
    signal,
  });
  const allocatable = enforcePods
    ? own
        .filter(({ signal, hard }) => hard && signal === "memory.available")
        .map((threshold) => asSignal(threshold, "allocatableMemory.available"))
    : [];
  const disk = layout === "dedicated" ? "imagefs" : "nodefs";
  const containers = own.flatMap((threshold) => {
    if (threshold.signal === `${disk}.available`) return [asSignal(threshold, "containerfs.available")];
    if (threshold.signal === `${disk}.inodesFree`) return [asSignal(threshold, "containerfs.inodesFree")];
    return [];
  });
  return [...own, ...allocatable, ...containers];
}

/** In whole units. */
export function unitsOf(value: ThresholdValue, capacity: number): number {
  if (value.kind === "quantity") return Number(value.units);
  return partOf(capacity, value.percent);
}

/** As messages print it. */
export function quantityOf(value: ThresholdValue, capacity: number): ExactQuantity {
  if (value.kind === "quantity") return { nanos: value.units * NANO, format: value.format ?? "BinarySI" };
  return { nanos: BigInt(unitsOf(value, capacity)) * NANO, format: "BinarySI" };
}

/** @param reclaiming the minimum reclaim must be free, too */
function isMet(threshold: EvictionThreshold, { available, capacity }: Observation, reclaiming: boolean): boolean {
  const extra = reclaiming && threshold.minReclaim !== undefined ? unitsOf(threshold.minReclaim, capacity) : 0;
  return unitsOf(threshold.value, capacity) + extra > available;
}

/** The thresholds that are met; a signal that could not be read meets none. */
export function metOf(
  thresholds: readonly EvictionThreshold[],
  observations: Observations,
  reclaiming: boolean,
): EvictionThreshold[] {
  return thresholds.filter((threshold) => {
    const observation = observations.get(threshold.signal);
    return observation !== undefined && isMet(threshold, observation, reclaiming);
  });
}
