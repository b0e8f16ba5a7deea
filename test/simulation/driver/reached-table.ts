// The table of what all seeds of a command have reached.

import { ACTIONS_OF, type Aim, type FaultKind } from "../plan/events.js";
import { CHANGING_VERBS, type ReachedValues } from "../world/reached.js";

/** More pairs would hide the other lines. */
const MOST_NAMED = 8;

export class ReachedTable {
  private readonly seen = new Map<string, Set<string>>();

  add(values: ReachedValues): void {
    for (const [row, found] of Object.entries(values)) {
      const known = this.seen.get(row) ?? new Set<string>();
      this.seen.set(row, known);
      for (const one of found) known.add(one);
    }
  }

  /** Pairs that no seed has reached: the next one aims at `most` of them. `turn` chooses which. */
  aims(kinds: readonly FaultKind[], most: number, turn: number): Aim[] {
    const { missing } = this.pairs(kinds);
    const from = missing.length === 0 ? 0 : (turn * most) % missing.length;
    return [...missing.slice(from), ...missing.slice(0, from)].slice(0, most).map((pair) => {
      const [name = "", verb = ""] = pair.split(" ");
      return `${name}:${verb}` as const;
    });
  }

  /** `kinds`: the faults that may happen. */
  lines(kinds: readonly FaultKind[]): string[] {
    const { pairs, missing } = this.pairs(kinds);
    const lines = [...this.seen].map(([row, { size }]) => `  ${row.padEnd(26)}${size}`);
    if (pairs.length === 0) return ["reached:", ...lines];
    const named = missing.length > MOST_NAMED ? [...missing.slice(0, MOST_NAMED), "…"] : missing;
    const not = missing.length === 0 ? "" : `; not yet: ${named.join(", ")}`;
    return ["reached:", ...lines, `  of ${pairs.length} faults during calls ${pairs.length - missing.length}${not}`];
  }

  private pairs(kinds: readonly FaultKind[]): { pairs: string[]; missing: string[] } {
    const met = this.seen.get("calls at a fault");
    const names = kinds.flatMap((kind) => ACTIONS_OF[kind]);
    const pairs = names.flatMap((name) => CHANGING_VERBS.map((verb) => `${name} ${verb}`));
    return { pairs, missing: pairs.filter((pair) => met?.has(pair) !== true) };
  }
}
