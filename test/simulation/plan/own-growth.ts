// Claims that grow, some while faults occur, the others while the node is calm.

import type { Random } from "../kernel/random.js";
import { CLAIMS } from "../world/csi-plugin.js";
import type { Action } from "./events.js";

const IN_BUSY = 6;
const IN_CALM = 4;
/** Before the checks of the round. */
const REST_MS = 240_000;

export class OwnGrowth {
  constructor(private readonly random: Random) {}

  /** Events of one round, which is busy until `calm` and checked at `end`. */
  events(begin: number, calm: number, end: number): (readonly [atMs: number, action: Action])[] {
    const { random } = this;
    const some = (count: number, from: number, to: number) =>
      Array.from({ length: count }, () => {
        const action: Action = { do: "claim-grows", claim: random.pick(CLAIMS), gibibytes: 1 + random.below(3) };
        return [Math.round(random.between(from, to)), action] as const;
      });
    return [...some(IN_BUSY, begin, calm), ...some(IN_CALM, calm, end - REST_MS)];
  }
}
