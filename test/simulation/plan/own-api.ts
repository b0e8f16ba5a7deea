// What happens on a node with an API server of its own: config maps that users write with kubectl or by hand, and
// faults of the server's thread in the place of those of a cluster's API server.

import type { Random } from "../kernel/random.js";
import { MAPS } from "../world/own-api-maps.js";
import type { Action } from "./events.js";

const IN_BUSY = 24;
const IN_CALM = 8;
/** Part of the changes that an editor makes. */
const BY_HAND = 0.4;
/** After the calm the node settles first, and at the end files follow. */
const REST_MS = 120_000;
/** Changes of the calm do not meet each other. */
const CALM_STEP_MS = 30_000;
const THREAD = "apiserver";

export class OwnApiPlan {
  constructor(private readonly random: Random) {}

  /** The fault as it is on this node. */
  fault(fault: Action): Action {
    const { random } = this;
    if (fault.do === "shutdown" && fault.meets !== undefined) {
      const { meets } = fault;
      return { ...fault, meets: { ...meets, fault: this.fault(meets.fault) } };
    }
    // The worker for the node's status lives in the same thread.
    if ((fault.do === "thread-crash" || fault.do === "thread-stalls") && fault.name === "node-status")
      return { ...fault, name: THREAD };
    if (!fault.do.startsWith("api-") && !fault.do.startsWith("watch-")) return fault;
    if (random.chance(0.6)) return { do: "thread-crash", name: THREAD };
    return { do: "thread-stalls", name: THREAD, ms: 1000 + random.below(40_000) };
  }

  /** Events of one round, which is busy until `calm` and checked at `end`. */
  events(begin: number, calm: number, end: number): (readonly [atMs: number, action: Action])[] {
    const { random } = this;
    const busy = Array.from(
      { length: IN_BUSY },
      () => [Math.round(random.between(begin, calm)), this.change()] as const,
    );
    const quiet = Array.from({ length: IN_CALM }, (_, index) => {
      const at = Math.min(calm + REST_MS + index * CALM_STEP_MS, end - REST_MS);
      return [at, random.chance(0.3) ? this.change() : this.edit()] as const;
    });
    return [...busy, ...quiet];
  }

  private change(): Action {
    const { random } = this;
    if (random.chance(BY_HAND)) return this.edit();
    const name = random.pick(MAPS);
    return random.chance(0.2) ? { do: "map-removed", name } : { do: "map-set", name, value: this.value() };
  }

  private edit(): Action {
    const { random } = this;
    const how = random.pick(["in-place", "renamed", "moved-away"] as const);
    const what = random.pick(["value", "value", "value", "half", "rule", "removal"] as const);
    return { do: "file-edited", name: random.pick(MAPS), how, what, value: this.value() };
  }

  private value(): string {
    return `value-${this.random.below(1_000_000)}`;
  }
}
