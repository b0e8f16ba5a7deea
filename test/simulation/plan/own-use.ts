// Pods that use memory, on a node that runs short of it, and the shortages.

import type { Random } from "../kernel/random.js";
import { hasSoftThresholds, type NodeShape } from "../world/node-shape.js";
import type { Action } from "./events.js";
import type { PodShape } from "./pod-shapes.js";

/** What a container uses, MiB; each requests 16. */
const USES = [4, 12, 40, 100, 250, 400];
/** Part of the faults that are shortages. */
const FAULTS = 0.25;
/** Part of these that are above the hard threshold, where there is a soft one. */
const SOFT = 0.6;

export class OwnUse {
  constructor(
    private readonly random: Random,
    private readonly node: NodeShape,
  ) {}

  /** The pod as it is on this node. */
  shape(plain: PodShape): PodShape {
    const useMiB: Record<string, number> = {};
    for (const member of ["initContainers", "containers"]) {
      for (const { name } of (plain.spec[member] ?? []) as { name: string }[]) useMiB[name] = this.random.pick(USES);
    }
    return { ...plain, useMiB };
  }

  /** Undefined: the fault is another one. */
  fault(): Action | undefined {
    const { random } = this;
    if (!random.chance(FAULTS)) return undefined;
    if (hasSoftThresholds(this.node) && random.chance(SOFT)) {
      return { do: "memory-short", leftMiB: 150 + random.below(850), ms: 30_000 + random.below(150_000) };
    }
    return { do: "memory-short", leftMiB: random.below(95), ms: 5000 + random.below(115_000) };
  }
  /** A shortage that no other fault comes with. */
  quiet(): Action {
    const { random } = this;
    const leftMiB = random.chance(SOFT) ? 150 + random.below(850) : random.below(95);
    return { do: "memory-short", leftMiB, ms: 100_000 + random.below(50_000) };
  }
}
