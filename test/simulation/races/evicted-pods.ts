// The pods that the kubelet evicts during a race.

import { onEviction } from "../invariants/eviction-orders.js";
import { kernel } from "../kernel/kernel.js";
import type { World } from "../world/world.js";

/** Grows with each eviction, in their order, as the kubelet reports them. */
export function evictedPods(world: World): { name: string; atMs: number }[] {
  const evicted: { name: string; atMs: number }[] = [];
  onEviction(world, ({ name }) => evicted.push({ name, atMs: kernel.monotonic }));
  return evicted;
}
