// Seeds that are run always. What a seed has found is kept as a race (races/found-here.ts), because a new version of
// the plan gives the seed other events.

import type { RunOrder } from "../driver/order.js";
import { FAULT_KINDS } from "../plan/events.js";

export interface KeptSeed extends RunOrder {
  /** What it found, or what it is for. */
  why: string;
}

const ROUND_HOURS = 0.3;

export const KEPT_SEEDS: readonly KeptSeed[] = [
  { why: "kills and restarts of the kubelet", seed: 2, hours: ROUND_HOURS, pods: 8, faults: ["process"] },
  { why: "all faults, with reboots", seed: 13, hours: ROUND_HOURS, pods: 8, faults: FAULT_KINDS },
  { why: "all faults, with orderly shutdowns", seed: 34, hours: ROUND_HOURS, pods: 8, faults: FAULT_KINDS },
  { why: "a node with an API of its own", seed: 5, hours: ROUND_HOURS, pods: 8, faults: FAULT_KINDS },
];
