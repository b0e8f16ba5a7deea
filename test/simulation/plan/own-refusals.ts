// Claims that grow to a size that the node's driver refuses, for ever or for a while.

import { STATUS } from "../../../src/shared/kubernetes/plugins/call-error.js";
import type { Random } from "../kernel/random.js";
import { CLAIMS } from "../world/csi-plugin.js";
import type { Action } from "./events.js";

const IN_BUSY = 2;
const IN_CALM = 2;
/** Before the checks of the round. */
const REST_MS = 240_000;
const IN_USE = [STATUS.FAILED_PRECONDITION];
const CODES = [STATUS.OUT_OF_RANGE, STATUS.INVALID_ARGUMENT];

const MOST_MS = 180_000;

export class OwnRefusals {
  /** `forAWhile`: the driver says that the volume is in use. */
  constructor(
    private readonly random: Random,
    private readonly forAWhile: boolean,
  ) {}

  /** Events of one round, which is busy until `calm` and checked at `end`. */
  events(begin: number, calm: number, end: number): (readonly [atMs: number, action: Action])[] {
    const { random } = this;
    const some = (count: number, from: number, to: number) =>
      Array.from({ length: count }, () => {
        const [claim, refusal] = [random.pick(CLAIMS), random.pick(this.forAWhile ? IN_USE : CODES)];
        const action: Action = { do: "claim-grows", claim, gibibytes: 1 + random.below(3), refusal };
        if (this.forAWhile) action.refusedMs = 10_000 + random.below(MOST_MS);
        return [Math.round(random.between(from, to)), action] as const;
      });
    return [...some(IN_BUSY, begin, calm), ...some(IN_CALM, calm, end - REST_MS)];
  }
}
