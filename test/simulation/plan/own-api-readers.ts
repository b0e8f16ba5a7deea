// Programs that follow objects of a node's own API, some while faults occur, the others while the node is calm, and
// large config maps that are written meanwhile.

import type { Random } from "../kernel/random.js";
import type { Follow } from "../world/own-api-reader.js";
import { LARGE_MAPS, VIEWERS } from "../world/own-api-readers.js";
import type { Action } from "./events.js";

const FOLLOWED_IN_BUSY = 7;
const FOLLOWED_IN_CALM = 7;
const CUTS_IN_BUSY = 4;
const CUTS_IN_CALM = 2;
const FILLED_IN_BUSY = 4;
const FILLED_IN_CALM = 2;
const NAMED_IN_BUSY = 2;
/** Both viewers are named so long after the begin of the round and of the calm. */
const NAMED_MS = 6000;
/** A viewer is taken out of the file so long after the calm, and named again then. */
const TAKEN_OUT_MS = 240_000;
const NAMED_AGAIN_MS = 330_000;
/** The node is calm for its promises. */
const RECOVERED_MS = 150_000;
/** Before the checks of the round all readers have left. */
const REST_MS = 60_000;
/** More than the history keeps: 8 MiB. */
const MANY = { kib: 700, times: 13 };

export class OwnApiReaders {
  constructor(private readonly random: Random) {}

  /** Events of one round, which is busy until `calm` and checked at `end`. */
  events(begin: number, calm: number, end: number): (readonly [atMs: number, action: Action])[] {
    const { random } = this;
    const rest = [calm + RECOVERED_MS, end - 3 * REST_MS] as const;
    const some = (count: number, [from, to]: readonly [number, number], make: (at: number) => Action) =>
      Array.from({ length: count }, () => {
        const at = Math.round(random.between(from, to));
        return [at, make(at)] as const;
      });
    const follow = (at: number): Action => this.followed(end - REST_MS - at);
    const busy = [begin + NAMED_MS, calm] as const;
    const many = (): Action => ({ do: "map-filled", name: random.pick(LARGE_MAPS), ...MANY });
    return [
      [begin + NAMED_MS, { do: "viewers-named", names: VIEWERS }],
      [calm + NAMED_MS, { do: "viewers-named", names: VIEWERS }],
      [calm + TAKEN_OUT_MS, { do: "viewers-named", names: VIEWERS.slice(1) }],
      [calm + NAMED_AGAIN_MS, { do: "viewers-named", names: VIEWERS }],
      ...some(NAMED_IN_BUSY, busy, () => this.named()),
      ...some(FOLLOWED_IN_BUSY, busy, follow),
      ...some(FOLLOWED_IN_CALM, rest, follow),
      ...some(CUTS_IN_BUSY, busy, () => this.cut()),
      ...some(CUTS_IN_CALM, rest, () => this.cut()),
      ...some(FILLED_IN_BUSY, busy, () => this.filled()),
      ...some(FILLED_IN_CALM, rest, () => this.filled()),
      ...some(1, busy, many),
      ...some(1, rest, many),
    ];
  }

  private followed(mostMs: number): Action {
    const { random } = this;
    const resource = random.pick(["pods", "configmaps", "configmaps"] as const);
    const selections =
      resource === "pods" ? (["all", "running"] as const) : (["all", "even", "uneven", "first"] as const);
    const follow: Follow = {
      resource,
      selection: random.pick(selections),
      begins: random.pick(["list", "pages", "stream"] as const),
      as: random.pick(["admin", ...VIEWERS]),
      bookmarks: random.chance(0.5),
      timeoutSeconds: random.pick([20, 90, 600]),
    };
    const leavesMs = Math.min(mostMs, 30_000 + random.below(400_000));
    if (follow.as !== "admin" && random.chance(0.15)) follow.resource = "secrets";
    if (follow.resource === "secrets") follow.selection = "all";
    else if (random.chance(0.35)) follow.paceMs = random.pick([100, 2000, 25_000]);
    return { do: "objects-followed", follow, leavesMs };
  }

  private cut(): Action {
    return { do: "followers-cut", awayMs: this.random.pick([1, 500, 5000, 40_000]) };
  }

  private filled(): Action {
    const { random } = this;
    const name = random.pick(LARGE_MAPS);
    if (random.chance(0.15)) return { do: "map-removed", name };
    return { do: "map-filled", name, kib: random.pick([1, 60, 200]), times: 1 + random.below(8) };
  }

  private named(): Action {
    return { do: "viewers-named", names: this.random.pick([[], VIEWERS.slice(0, 1), VIEWERS.slice(1), VIEWERS]) };
  }
}
