// The topology manager's part in an admission: from what each resource manager could serve to one place for all of them.
import type { ResourceHints, TopologyHint } from "../managers/port.js";

export type TopologyScope = "container" | "pod";

export interface TopologyPlace {
  /** Where to allocate; undefined: anywhere. */
  affinity: TopologyHint | undefined;
  admit: boolean;
}

export interface TopologyPolicy {
  readonly scope: TopologyScope;
  /** Admitted resources lie within one NUMA node. */
  readonly aligns: boolean;
  /** Pure: one entry per manager. */
  choose(hints: readonly ResourceHints[]): TopologyPlace;
}
