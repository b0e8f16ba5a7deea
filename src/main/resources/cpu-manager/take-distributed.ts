// distribute-cpus-across-numa: a request that one NUMA node cannot serve is distributed evenly over as few NUMA nodes
// as possible. So a program's threads find the same number of CPUs on each of them.
// Invariant: parts differ by one group of CPUs at most; among equally few nodes those are taken that leave all nodes
// most alike. Where nothing even can be found the request is packed. Pure.

import { type CpuSet, common, union } from "./cpu-set.js";
import type { CpuTopology } from "./cpu-topology.js";
import { type PackOptions, takePacked } from "./take-cpus.js";

/** Beyond it there are too many sets of nodes to search; no such machine is known. */
const MAX_NODES = 12;

/**
 * @param groupSize CPUs that are handed out together: a core's with full-pcpus-only, else 1. Undefined: too few are
 *   free.
 */
export function takeDistributed(
  topology: CpuTopology,
  free: CpuSet,
  count: number,
  groupSize: number,
  options: PackOptions = {},
): CpuSet | undefined {
  const shares = count % groupSize === 0 ? evenShares(topology, free, count, groupSize) : undefined;
  if (shares === undefined) return takePacked(topology, free, count, options);
  const parts = [...shares].map(([node, size]) =>
    takePacked(topology, common(free, topology.members("numaNode", node)), size, options),
  );
  return union(...parts.map((part) => part ?? []));
}

/** NUMA node to its allocated CPUs. */
type Shares = ReadonlyMap<number, number>;

function evenShares(topology: CpuTopology, free: CpuSet, count: number, groupSize: number): Shares | undefined {
  const nodes = topology.ids("numaNode");
  if (nodes.length > MAX_NODES) return undefined;
  const room = new Map(nodes.map((id) => [id, common(free, topology.members("numaNode", id)).size]));
  let best: { shares: Shares; width: number; spread: number } | undefined;
  for (const chosen of subsets(nodes)) {
    if (best !== undefined && chosen.length > best.width) continue;
    const shares = sharesOf(chosen, room, count, groupSize);
    if (shares === undefined) continue;
    const spread = variance(nodes.map((id) => (room.get(id) ?? 0) - (shares.get(id) ?? 0)));
    if (best === undefined || chosen.length < best.width || spread < best.spread) {
      best = { shares, width: chosen.length, spread };
    }
  }
  return best?.shares;
}

/** Takes equally many groups from each NUMA node, then one more from those with most room until they suffice. */
function sharesOf(
  chosen: readonly number[],
  room: ReadonlyMap<number, number>,
  count: number,
  groupSize: number,
): Shares | undefined {
  const groups = count / groupSize;
  const each = Math.floor(groups / chosen.length);
  const more = groups - each * chosen.length;
  const byRoom = chosen.toSorted((a, b) => (room.get(b) ?? 0) - (room.get(a) ?? 0) || a - b);
  const shares = byRoom.map((id, at) => [id, (each + (at < more ? 1 : 0)) * groupSize] as const);
  return shares.every(([id, size]) => size > 0 && size <= (room.get(id) ?? 0)) ? new Map(shares) : undefined;
}

function* subsets(ids: readonly number[]): Iterable<number[]> {
  for (let mask = 1; mask < 2 ** ids.length; mask++) yield ids.filter((_, at) => (mask & (1 << at)) !== 0);
}

function variance(values: readonly number[]): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
}
