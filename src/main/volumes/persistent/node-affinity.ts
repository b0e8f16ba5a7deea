// A persistent volume may be reachable from some nodes only.
import { termMatches, type SelectedNode } from "../../../shared/api/node-selector.js";
import type { PersistentVolume } from "../../../shared/api/objects.js";

/** undefined: the volume can be used here. */
export function affinityProblem(pv: PersistentVolume, node: SelectedNode): string | undefined {
  const required = pv.spec.nodeAffinity?.required;
  if (required === undefined) return undefined;
  if (required.nodeSelectorTerms.some((term) => termMatches(term, node))) return undefined;
  return "no matching NodeSelectorTerms";
}
