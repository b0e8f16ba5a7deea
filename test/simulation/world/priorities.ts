// Priority classes of the simulated cluster, on nodes whose pods have priorities.

import type { SimulatedApi } from "./api.js";

/** Names of classes in the API, and their priorities: the last two are critical. */
export const PRIORITIES: readonly (readonly [name: string, priority: number])[] = [
  ["least", -5],
  ["zero", 0],
  ["low", 50],
  ["medium", 1000],
  ["high", 5000],
  ["highest", 100_000],
  ["system-cluster-critical", 2_000_000_000],
  ["system-node-critical", 2_000_001_000],
];

/** Undefined: there is no such class. */
export function priorityOf(className: string): number | undefined {
  return PRIORITIES.find(([name]) => name === className)?.[1];
}

export function makePriorities({ store }: SimulatedApi): void {
  for (const [name, value] of PRIORITIES) store.put("priorityclasses", { metadata: { name }, value });
}
