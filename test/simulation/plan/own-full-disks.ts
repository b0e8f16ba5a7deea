// Disks without a byte or an inode left, some while other faults occur, one while the node is calm.

import type { Random } from "../kernel/random.js";
import type { Action } from "./events.js";

const IN_BUSY = 2;
/** After the shortage that each calm has, and long before the checks of the round. */
const AFTER_CALM_MS = 5.5 * 60_000;
const LATER_MS = 30_000;
/** Part of the disks that run out of inodes. */
const INODES = 0.3;
/** Part of those whose freed room is taken at once. */
const REFILLS = 0.4;
/** Part of the times that are too short for many evictions. */
const SHORT = 0.6;
const UP_TO_MS = 120_000;

export class OwnFullDisks {
  constructor(private readonly random: Random) {}

  /** Events of one round, which is busy until `calm`. */
  events(begin: number, calm: number): (readonly [atMs: number, action: Action])[] {
    const { random } = this;
    const busy = Array.from({ length: IN_BUSY }, () => [random.between(begin, calm), this.fault()] as const);
    return [...busy, [calm + AFTER_CALM_MS + random.below(LATER_MS), this.fault()]];
  }

  private fault(): Action {
    const { random } = this;
    return {
      do: "disk-full",
      place: random.pick(["nodefs", "nodefs", "imagefs"] as const),
      what: random.chance(INODES) ? "inodes" : "bytes",
      refills: random.chance(REFILLS),
      ms: random.chance(SHORT) ? 1000 + random.below(19_000) : 20_000 + random.below(UP_TO_MS - 20_000),
    };
  }
}
