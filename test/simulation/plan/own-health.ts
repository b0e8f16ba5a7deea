// Changes of the health of DRA devices, and pauses and ends of the streams that report it: some while faults occur, the
// others while the node is calm, so that each must show soon.

import type { Random } from "../kernel/random.js";
import { HEALTHS } from "../world/device-health.js";
import type { Action } from "./events.js";

const IN_BUSY = 6;
const IN_CALM = 6;
/** Pods run again so long after the faults. */
const RECOVERED_MS = 170_000;
/** Before the checks of the round. */
const REST_MS = 120_000;

export class OwnHealth {
  constructor(private readonly random: Random) {}

  /** Events of one round, which is busy until `calm` and checked at `end`. */
  events(begin: number, calm: number, end: number): (readonly [atMs: number, action: Action])[] {
    const { random } = this;
    const some = (count: number, from: number, to: number) =>
      Array.from({ length: count }, () => [Math.round(random.between(from, to)), this.change()] as const);
    return [...some(IN_BUSY, begin, calm), ...some(IN_CALM, calm + RECOVERED_MS, end - REST_MS)];
  }

  private change(): Action {
    const { random } = this;
    switch (random.below(5)) {
      case 0:
        return { do: "health-quiet", ms: random.pick([10_000, 60_000, 90_000]) };
      case 1:
        return { do: "health-streams-end" };
      default:
        return {
          do: "health-changes",
          pick: random.below(1000),
          health: random.pick(HEALTHS),
          ms: 1000 + random.below(90_000),
        };
    }
  }
}
