// Pods with many processes, on a node that runs short of process ids, and the shortages.

import type { Random } from "../kernel/random.js";
import { hasSoftThresholds, type NodeShape } from "../world/node-shape.js";
import type { Action } from "./events.js";
import type { PodShape } from "./pod-shapes.js";

/** Processes of a container. */
const COUNTS = [1, 5, 50, 300, 1500];
/** Part of the faults that are shortages. */
const FAULTS = 0.15;
const MISSING = [1, 100, 600, 900];

export class OwnProcesses {
  constructor(
    private readonly random: Random,
    private readonly node: NodeShape,
  ) {}

  /** The pod as it is on this node. */
  shape(plain: PodShape): PodShape {
    const processes: Record<string, number> = {};
    for (const member of ["initContainers", "containers"]) {
      for (const { name } of (plain.spec[member] ?? []) as { name: string }[])
        processes[name] = this.random.pick(COUNTS);
    }
    return { ...plain, processes };
  }

  /** Undefined: the fault is another one. */
  fault(): Action | undefined {
    const { random } = this;
    if (!random.chance(FAULTS)) return undefined;
    return this.shortage(5000 + random.below(115_000));
  }

  /** A shortage that no other fault comes with. */
  quiet(): Action {
    return this.shortage(100_000 + this.random.below(50_000));
  }

  private shortage(ms: number): Action {
    const { random } = this;
    const below = hasSoftThresholds(this.node) && random.chance(0.6) ? "soft" : "hard";
    return { do: "pids-short", below, missing: random.pick(MISSING), ms };
  }
}
