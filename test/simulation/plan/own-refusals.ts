// Claims that grow to a size that the node's driver refuses for ever.

import { STATUS } from "../../../src/shared/kubernetes/plugins/call-error.js";
import type { Random } from "../kernel/random.js";
import { CLAIMS } from "../world/csi-plugin.js";
import type { Action } from "./events.js";

const IN_BUSY = 2;
const IN_CALM = 2;
/** Before the checks of the round. */
const REST_MS = 240_000;
const CODES = [STATUS.OUT_OF_RANGE, STATUS.INVALID_ARGUMENT];

export class OwnRefusals {
  constructor(private readonly random: Random) {}

  /** Events of one round, which is busy until `calm` and checked at `end`. */
  events(begin: number, calm: number, end: number): (readonly [atMs: number, action: Action])[] {
    const { random } = this;
    const some = (count: number, from: number, to: number) =>
      Array.from({ length: count }, () => {
        const [claim, refusal] = [random.pick(CLAIMS), random.pick(CODES)];
        const action: Action = { do: "claim-grows", claim, gibibytes: 1 + random.below(3), refusal };
        return [Math.round(random.between(from, to)), action] as const;
      });
    return [...some(IN_BUSY, begin, calm), ...some(IN_CALM, calm, end - REST_MS)];
  }
}
