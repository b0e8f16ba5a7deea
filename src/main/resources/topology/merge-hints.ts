// Merges the hints of all resource managers into one affinity for a container. A combination takes one hint per
// resource; its value is the intersection of the hints' nodes, and the best combination wins. Combinations with equal
// intersections are followed once. Invariant: with 8 NUMA nodes and a dozen resources this takes only milliseconds.

import type { ResourceHints, TopologyHint } from "../assignment/resource-manager.js";
import { byWidth, sizeOf, type NumaSet, type NumaSets } from "./numa-sets.js";

/** `set` undefined: any nodes are fine, or, if it is not preferred, none are. */
export interface Option {
  set: NumaSet | undefined;
  preferred: boolean;
}

export interface Merged {
  set: NumaSet;
  preferred: boolean;
}

/** One list per resource; a manager without a preference adds a resource that accepts any nodes. */
export function optionsOf(hints: readonly ResourceHints[], sets: NumaSets): Option[][] {
  return hints.flatMap((ofManager) => {
    if (ofManager.size === 0) return [[INDIFFERENT]];
    return [...ofManager.values()].map((list): Option[] => {
      if (list === undefined) return [INDIFFERENT];
      if (list.length === 0) return [IMPOSSIBLE];
      return list.map(({ nodes, preferred }) => ({ set: sets.of(nodes), preferred }));
    });
  });
}

const INDIFFERENT: Option = { set: undefined, preferred: true };
const IMPOSSIBLE: Option = { set: undefined, preferred: false };

/** Orders sets, the better first. */
export type Fitness = (a: NumaSet, b: NumaSet) => number;

/** Nearer nodes first; without a difference fewer. */
export function byDistance(sets: NumaSets): Fitness {
  return (a, b) => sets.spread(a) - sets.spread(b) || byWidth(a, b);
}

/** The best combination; all nodes, not preferred, if no combination shares a node. */
export function mergeHints(options: readonly (readonly Option[])[], sets: NumaSets, fitness: Fitness): Merged {
  const wide = widest(options);
  let best: Merged | undefined;
  for (const { set, preferred } of outcomes(options, sets.all)) {
    if (set === 0) continue;
    const candidate = { set, preferred };
    if (best === undefined || compare(candidate, best, wide, fitness) < 0) best = candidate;
  }
  return best ?? { set: sets.all, preferred: false };
}

/**
 * The merged result of every combination of hints. A combination is preferred if all its hints are preferred and all
 * name the same nodes. Then their intersection equals that set, so the intersection alone decides whether the next hint
 * keeps it preferred.
 */
function outcomes(options: readonly (readonly Option[])[], all: NumaSet): Merged[] {
  let reached = new Map<number, Reached>([[0, { set: all, preferred: true, named: false }]]);
  for (const list of options) {
    const next = new Map<number, Reached>();
    for (const from of reached.values()) {
      for (const { set, preferred } of list) {
        const same = set === undefined || !from.named || set === from.set;
        const shared = set === undefined ? from.set : from.set & set;
        const favourite = from.preferred && preferred && same;
        const named = from.named || set !== undefined;
        const key = shared * 4 + (favourite ? 2 : 0) + (named ? 1 : 0);
        if (!next.has(key)) next.set(key, { set: shared, preferred: favourite, named });
      }
    }
    reached = next;
  }
  return [...reached.values()];
}

interface Reached extends Merged {
  /** At least one hint has named nodes. */
  named: boolean;
}

/** Smallest number of nodes that every resource needs: a set that no resource prefers should have as many. */
function widest(options: readonly (readonly Option[])[]): number {
  const least = options.map((list) => list.flatMap(({ set }) => (set === undefined ? [] : [sizeOf(set)])));
  return Math.max(0, ...least.filter((sizes) => sizes.length > 0).map((sizes) => Math.min(...sizes)));
}

/** Below 0: `a` is better. */
function compare(a: Merged, b: Merged, wide: number, fitness: Fitness): number {
  if (a.preferred !== b.preferred) return a.preferred ? -1 : 1;
  if (a.preferred) return fitness(a.set, b.set);
  return rank(a.set, wide) - rank(b.set, wide) || fitness(a.set, b.set);
}

/** As wide as the largest need; else narrower, by as little as possible; else wider. */
function rank(set: NumaSet, wide: number): number {
  const size = sizeOf(set);
  return size <= wide ? wide - size : Number.MAX_SAFE_INTEGER;
}

/** The merged hint for the managers. */
export function hintOf({ set, preferred }: Merged, sets: NumaSets): TopologyHint {
  return { nodes: sets.ids(set), preferred };
}
