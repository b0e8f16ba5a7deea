// Pods that use memory, on a node that runs short of it, and the shortages.

import type { Random } from "../kernel/random.js";
import type { Action } from "./events.js";
import type { PodShape } from "./pod-shapes.js";

/** What a container uses, MiB; each requests 16. */
const USES = [4, 12, 40, 100, 250, 400];
/** Part of the faults that are shortages. */
const FAULTS = 0.25;

export class OwnUse {
  constructor(private readonly random: Random) {}

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
    return { do: "memory-short", leftMiB: random.below(95), ms: 5000 + random.below(115_000) };
  }
}
