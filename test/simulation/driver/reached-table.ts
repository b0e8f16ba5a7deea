// The table of what all seeds of a command have reached.

import { ACTIONS_OF, type FaultKind } from "../plan/events.js";
import { CHANGING_VERBS, type ReachedValues } from "../world/reached.js";

export class ReachedTable {
  private readonly seen = new Map<string, Set<string>>();

  add(values: ReachedValues): void {
    for (const [row, found] of Object.entries(values)) {
      const known = this.seen.get(row) ?? new Set<string>();
      this.seen.set(row, known);
      for (const one of found) known.add(one);
    }
  }

  /** `kinds`: the faults that may happen. */
  lines(kinds: readonly FaultKind[]): string[] {
    const names = kinds.flatMap((kind) => ACTIONS_OF[kind]);
    const met = this.seen.get("calls at a fault");
    const pairs = names.flatMap((name) => CHANGING_VERBS.map((verb) => `${name} ${verb}`));
    const missing = pairs.filter((pair) => met?.has(pair) !== true);
    const lines = [...this.seen].map(([row, { size }]) => `  ${row.padEnd(26)}${size}`);
    if (pairs.length === 0) return ["reached:", ...lines];
    const not = missing.length === 0 ? "" : `; not yet: ${missing.join(", ")}`;
    return ["reached:", ...lines, `  of ${pairs.length} faults during calls ${pairs.length - missing.length}${not}`];
  }
}
