// Moments at which nothing but the agent itself has an influence on what it does.

import { kernel } from "../kernel/kernel.js";
import type { World } from "../world/world.js";

/** No fault for so long, and a kubelet that has completed its start so long ago. */
export function isCalm({ facts }: World, ms: number): boolean {
  const { startedAt = Infinity, lastFaultAt } = facts;
  return kernel.monotonic - lastFaultAt > ms && kernel.monotonic - startedAt > ms;
}

/** A shutdown in order and the boot after it may take so long. */
const SHUTDOWN_MS = 300_000;

/** As isCalm, and no shutdown in order was under way either. */
export function isUndisturbed(world: World, ms: number): boolean {
  return isCalm(world, ms) && kernel.monotonic - world.facts.lastShutdownAt > SHUTDOWN_MS;
}
