// Pods with few inodes and with many, on a node that runs short of disks, and shortages of inodes.

import type { Random } from "../kernel/random.js";
import type { Action } from "./events.js";
import type { PodShape } from "./pod-shapes.js";

/** Inodes of a container, in its layer. */
const LAYERS = [200, 2000, 6000, 15_000];
const IN_BUSY = 2;
/** After the other shortages of the calm. */
const AFTER_CALM_MS = 7.5 * 60_000;
/** Thousands of inodes below the threshold. */
const MISSING = [1, 5, 20];

export class OwnInodes {
  constructor(private readonly random: Random) {}

  /** The pod as it is on this node. */
  shape(plain: PodShape): PodShape {
    const { disk } = plain;
    if (disk === undefined) return plain;
    const names = Object.keys(disk.layerMiB);
    const inodes = Object.fromEntries(names.map((name) => [name, this.random.pick(LAYERS)]));
    return { ...plain, disk: { ...disk, inodes } };
  }

  /** Events of one round, which is busy until `calm`. */
  events(begin: number, calm: number): (readonly [atMs: number, action: Action])[] {
    const { random } = this;
    const busy = Array.from({ length: IN_BUSY }, () => [random.between(begin, calm), this.shortage()] as const);
    return [...busy, [calm + AFTER_CALM_MS, this.shortage()]];
  }

  private shortage(): Action {
    const { random } = this;
    const place = random.pick(["nodefs", "imagefs"] as const);
    const ms = 15_000 + random.below(30_000);
    return { do: "disk-short", signal: `${place}.inodesFree`, below: "hard", missing: random.pick(MISSING), ms };
  }
}
