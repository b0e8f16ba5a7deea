// The topology manager's part of an admission: merges the hints of all resource managers into one affinity.

import type { TopologyHint, ResourceHints } from "../assignment/resource-manager.js";

export type TopologyScope = "container" | "pod";

export interface TopologyPlace {
  /** NUMA nodes for the allocation; undefined: any. */
  affinity: TopologyHint | undefined;
  admit: boolean;
}

export interface TopologyPolicy {
  readonly scope: TopologyScope;
  /** Admitted resources are within one NUMA node. */
  readonly aligns: boolean;
  /** Pure: one entry per manager. */
  choose(hints: readonly ResourceHints[]): TopologyPlace;
}
