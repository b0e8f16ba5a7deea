// What containers write to their logs, and what happens while these are rotated.

import type { Random } from "../kernel/random.js";
import { LOGS } from "../world/machine-files.js";
import type { Action } from "./events.js";
import type { LogScript, PodShape } from "./pod-shapes.js";

/** Part of the containers that write more than a first and a last line. */
const SHARE = 0.7;
/** Faults of a round. */
const FAULTS = 5;
const VERB = "ReopenContainerLog";
const SCRIPTS: readonly LogScript[] = [
  // Always the same.
  { everyMs: 1000, lines: 2, length: 60, longEvery: 0, writes: Infinity, silentMs: 0 },
  { everyMs: 400, lines: 3, length: 100, longEvery: 20, writes: Infinity, silentMs: 0 },
  { everyMs: 5000, lines: 1, length: 40, longEvery: 0, writes: Infinity, silentMs: 0 },
  // Bursts after silence.
  { everyMs: 200, lines: 5, length: 120, longEvery: 0, writes: 20, silentMs: 25_000 },
  { everyMs: 300, lines: 4, length: 80, longEvery: 7, writes: 10, silentMs: 70_000 },
  // Mostly long lines.
  { everyMs: 2000, lines: 1, length: 200, longEvery: 2, writes: Infinity, silentMs: 0 },
];

export class OwnLogs {
  constructor(private readonly random: Random) {}

  shape(plain: PodShape): PodShape {
    const { random } = this;
    const { containers, initContainers = [] } = plain.spec as Record<string, { name: string }[] | undefined>;
    const named = [...(containers ?? []), ...initContainers];
    const logs = Object.fromEntries(
      named.flatMap(({ name }) => (random.chance(SHARE) ? [[name, random.pick(SCRIPTS)]] : [])),
    );
    return { ...plain, logs };
  }

  /** Events of one round, which is busy until `calm`. */
  events(begin: number, calm: number): (readonly [atMs: number, action: Action])[] {
    const { random } = this;
    return Array.from({ length: FAULTS }, () => [Math.round(random.between(begin, calm)), this.fault()] as const);
  }

  private fault(): Action {
    const { random } = this;
    const ms = 1000 + random.below(30_000);
    switch (random.below(7)) {
      case 0:
        return { do: "compression-killed", calls: 1 + random.below(20), downMs: random.pick([0, 1000, 10_000]) };
      case 1:
        return { do: "disk", kind: random.pick(["ENOSPC", "EIO", "slow"] as const), share: 0.3, ms, below: LOGS };
      case 2:
        return { do: "aim", verb: VERB, fault: { do: "kill", downMs: random.pick([0, 1000, 10_000]) } };
      case 3:
        return { do: "aim", verb: VERB, fault: this.duringReopen(ms) };
      default:
        return {
          do: "runtime-error",
          verb: VERB,
          spec: this.failure(),
          when: random.pick(["before", "after"] as const),
        };
    }
  }

  private duringReopen(ms: number): Action {
    const { random } = this;
    switch (random.below(4)) {
      case 0:
        return { do: "reboot", downMs: 5000 + ms };
      case 1:
        return { do: "runtime-restart", ms: ms / 2 };
      case 2:
        return { do: "restart", downMs: 0 };
      default:
        return { do: "container-dies", pick: random.below(1_000_000) };
    }
  }

  private failure(): string {
    const { random } = this;
    const what = random.pick(["error(UNAVAILABLE: lost)", "error(UNKNOWN: failed)", `delay(${random.below(15_000)})`]);
    return random.chance(0.2) ? "1*hang" : `${1 + random.below(4)}*${what}`;
  }
}
