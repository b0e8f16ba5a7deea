// Priority classes of the simulated cluster, on nodes whose pods have priorities.

import type { SimulatedApi } from "./api.js";

export const PRIORITIES: Readonly<Record<string, number>> = { middle: 1000, high: 100_000 };

export function makePriorities({ store }: SimulatedApi): void {
  for (const [name, value] of Object.entries(PRIORITIES)) store.put("priorityclasses", { metadata: { name }, value });
}
