// Sets of NUMA nodes as numbers, one bit per node, for fast comparison of hints. Invariant: the order of sets is total,
// so a merge does not depend on the order of hints.

import type { NumaNode } from "./machine-topology.js";

/** Bit i is the i-th node of the machine. */
export type NumaSet = number;

/** Bits of a JavaScript number that take part in bitwise operations without a sign. */
export const MOST_NUMA_NODES = 30;

export class NumaSets {
  readonly all: NumaSet;
  private readonly places: ReadonlyMap<number, number>;

  /** At most MOST_NUMA_NODES nodes, sorted by id. */
  constructor(private readonly nodes: readonly NumaNode[]) {
    this.places = new Map(nodes.map(({ id }, place) => [id, place]));
    this.all = 2 ** nodes.length - 1;
  }

  /** Ids that the machine does not have are left out. */
  of(ids: readonly number[]): NumaSet {
    return ids.reduce((set, id) => {
      const place = this.places.get(id);
      return place === undefined ? set : set | (1 << place);
    }, 0);
  }

  ids(set: NumaSet): number[] {
    return this.nodes.filter((_, place) => (set & (1 << place)) !== 0).map(({ id }) => id);
  }

  /**
   * Mean distance from every node of the set to every one of it, itself included; an unknown distance counts as far.
   */
  spread(set: NumaSet): number {
    const members = this.nodes.filter((_, place) => (set & (1 << place)) !== 0);
    if (members.length === 0) return 0;
    let sum = 0;
    for (const { distances } of members) for (const { id } of members) sum += distances.get(id) ?? UNKNOWN_DISTANCE;
    return sum / members.length ** 2;
  }
}

/** The kernel's largest distance. */
const UNKNOWN_DISTANCE = 255;

export function sizeOf(set: NumaSet): number {
  let rest = set;
  let size = 0;
  for (; rest !== 0; size++) rest &= rest - 1;
  return size;
}

/** Fewer nodes first, then lower ones. */
export function byWidth(a: NumaSet, b: NumaSet): number {
  return sizeOf(a) - sizeOf(b) || a - b;
}

/** All non-empty sets of the given nodes, narrow ones first. */
export function subsets(ids: readonly number[]): number[][] {
  const sets = Array.from({ length: 2 ** ids.length - 1 }, (_, index) => index + 1).sort(byWidth);
  return sets.map((set) => ids.filter((_, place) => (set & (1 << place)) !== 0));
}
