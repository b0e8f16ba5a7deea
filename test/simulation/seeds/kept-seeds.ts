// Seeds that are run always: those that found something, and one of each kind of fault.

import type { RunOrder } from "../driver/order.js";
import { FAULT_KINDS } from "../plan/events.js";

export interface KeptSeed extends RunOrder {
  /** What it found, or what it is for. */
  why: string;
}

const ROUND_HOURS = 0.3;

export const KEPT_SEEDS: readonly KeptSeed[] = [
  { why: "kills and restarts of the kubelet", seed: 2, hours: ROUND_HOURS, pods: 8, faults: ["process"] },
  {
    why: "a pod that an earlier kubelet completed had one try to stop its sandbox, and the runtime lost it",
    seed: 3,
    hours: ROUND_HOURS,
    pods: 10,
    faults: FAULT_KINDS,
    only: Array.from({ length: 38 }, (_, index) => index + 1),
  },
  { why: "all faults, with reboots", seed: 13, hours: ROUND_HOURS, pods: 8, faults: FAULT_KINDS },
];
