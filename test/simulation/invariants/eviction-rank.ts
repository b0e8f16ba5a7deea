// The order in which pods are evicted: those that exceed their requests first, then lower priority, then more of the
// resource. Pods may write while they are measured, so the promise holds for every moment of the measurement.
// https://kubernetes.io/docs/concepts/scheduling-eviction/node-pressure-eviction/#pod-selection-for-kubelet-eviction

import { podRequests, sumOf } from "../../../src/shared/kubernetes/api/pod-requests.js";
import type { PodSpec } from "../../../src/shared/kubernetes/api/pod.js";
import { value } from "../../../src/shared/kubernetes/api/quantity.js";
import { kernel } from "../kernel/kernel.js";
import { SMALL_FILES, SMALL_MIB } from "../world/disk-use.js";
import type { Signal } from "../world/signals.js";
import type { World } from "../world/world.js";

const MIB = 1024 * 1024;

/** Use above the requests: MiB; processes or inodes, which pods cannot request. */
export interface Standing {
  /** Between these two during the measurement. */
  least: number;
  most: number;
  priority: number;
  /** Use that the world does not count. */
  margin: number;
}

/** A pod whose containers did not change within the last `windowMs`. */
export function standingOf(world: World, signal: Signal, name: string, windowMs: number): Standing | undefined {
  const shape = world.facts.pods.get(name)?.shape;
  if (shape === undefined) return undefined;
  const { priority = 0 } = shape.spec as { priority?: number };
  const requested = (resource: string): number =>
    Number(value(sumOf(podRequests({ spec: shape.spec as unknown as PodSpec }), resource))) / MIB;
  const { memory, disks, processes } = world;
  const steady = (excess: number): Standing => ({ least: excess, most: excess, priority, margin: 0 });
  switch (signal) {
    case "memory.available":
      return steady((memory?.ofPod(name) ?? 0) - requested("memory"));
    case "pid.available":
      return steady(processes?.ofPod(name) ?? 0);
    case "nodefs.available":
    case "imagefs.available": {
      const request = requested("ephemeral-storage");
      const at = (moment: number): number => (disks?.ofPod(name, signal, moment) ?? 0) - request;
      return { least: at(kernel.monotonic - windowMs), most: at(kernel.monotonic), priority, margin: SMALL_MIB };
    }
    case "nodefs.inodesFree":
    case "imagefs.inodesFree":
      return disks === undefined ? undefined : { ...steady(disks.inodesOfPod(name, signal)), margin: SMALL_FILES };
  }
}

/** Whether the other pod is certainly before this one. */
export function isBefore(other: Standing, own: Standing): boolean {
  const { margin } = own;
  const isWithin = own.most + margin <= 0;
  const exceeds = other.least > margin;
  if (!exceeds && !isWithin) return false;
  if (exceeds && isWithin) return true;
  if (other.priority !== own.priority) return other.priority < own.priority;
  return other.least > (exceeds ? Math.max(0, own.most) : own.most) + margin;
}
