// Moments at which nothing but the agent itself has an influence on what it does.

import { kernel } from "../kernel/kernel.js";
import type { World } from "../world/world.js";

/** No fault for so long, and a kubelet that has completed its start so long ago. */
export function isCalm({ facts }: World, ms: number): boolean {
  const { startedAt = Infinity, lastFaultAt } = facts;
  return kernel.monotonic - lastFaultAt > ms && kernel.monotonic - startedAt > ms;
}
