// What clients of port 10250 ask for, some while faults occur, the others while the node is calm.

import type { Random } from "../kernel/random.js";
import type { Client, LogQuery } from "../world/log-readers.js";
import type { Action } from "./events.js";

const READS_IN_BUSY = 10;
const READS_IN_CALM = 12;
const ASKED_IN_BUSY = 4;
const ASKED_IN_CALM = 5;
/** Pods run again so long after the faults. */
const RECOVERED_MS = 150_000;
/** Before the checks of the round, so that readers are done. */
const REST_MS = 60_000;
const LAST_MS = 10_000;
const PATHS = ["/pods", "/stats/summary", "/healthz"];
const CLIENTS: readonly Client[] = ["reader", "reader", "reader", "nosy", "unknown", "none"];
const QUERIES: readonly LogQuery[] = [
  {},
  { timestamps: true },
  { tailLines: 1 },
  { tailLines: 10 },
  { tailLines: 200 },
  { limitBytes: 700 },
  { limitBytes: 20_000 },
  { agoMs: 15_000 },
  { agoMs: 120_000 },
  { previous: true },
  { previous: true, tailLines: 5 },
  { follow: true },
  { follow: true },
  { follow: true, tailLines: 10 },
  { follow: true, tailLines: 0 },
  { follow: true, agoMs: 20_000 },
];

export class OwnReaders {
  constructor(private readonly random: Random) {}

  /** Events of one round, which is busy until `calm` and checked at `end`. */
  events(begin: number, calm: number, end: number): (readonly [atMs: number, action: Action])[] {
    const { random } = this;
    const some = (count: number, [from, to]: readonly [number, number], make: () => Action) =>
      Array.from({ length: count }, () => [Math.round(random.between(from, to)), make()] as const);
    const rest = [calm + RECOVERED_MS, end - REST_MS] as const;
    return [
      ...some(READS_IN_BUSY, [begin, calm], () => this.read()),
      ...some(READS_IN_CALM, rest, () => this.read()),
      ...some(ASKED_IN_BUSY, [begin, calm], () => this.question()),
      ...some(ASKED_IN_CALM, rest, () => this.question()),
      ...PATHS.map((path) => [end - LAST_MS, { do: "node-asked", path, as: "reader" }] as const),
    ];
  }

  private read(): Action {
    const { random } = this;
    const query = random.pick(QUERIES);
    const action = { do: "log-read", pick: random.below(1_000_000), query } as const;
    const leavesMs = 20_000 + random.below(200_000);
    if (query.follow === true && random.chance(0.6)) return { ...action, leavesMs };
    return random.chance(0.2) ? { ...action, leavesMs, paceMs: 100 + random.below(3000) } : action;
  }

  private question(): Action {
    const { random } = this;
    return { do: "node-asked", path: random.pick(PATHS), as: random.pick(CLIENTS) };
  }
}
