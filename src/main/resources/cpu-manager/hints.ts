// Topology hints for a request for CPUs: every set of NUMA nodes with enough free CPUs. Pure.
// Invariant: the preferred sets are the narrowest that the machine allows for that many CPUs, free or not. So a request
// is not called well placed only because other containers hold the better places.

import type { TopologyHint } from "../assignment/resource-manager.js";
import { common, NO_CPUS, union, type CpuSet } from "./cpu-set.js";
import type { CpuTopology } from "./cpu-topology.js";

export interface HintOptions {
  /** CPUs that the pod has already and that count for this request; a set of nodes without all of them is none. */
  reusable?: CpuSet;
  alignBySocket?: boolean;
}

export function cpuHints(
  topology: CpuTopology,
  free: CpuSet,
  requested: number,
  { reusable = NO_CPUS, alignBySocket = false }: HintOptions = {},
): TopologyHint[] {
  const usable = union(free, reusable);
  const nodes = topology.ids("numaNode").map((id) => {
    const members = topology.members("numaNode", id);
    return { id, size: members.size, kept: common(reusable, members).size, free: common(usable, members).size };
  });
  const kept = common(reusable, topology.all).size;
  let narrowest = nodes.length;
  const places: number[][] = [];
  for (let mask = 1; mask < 2 ** nodes.length; mask++) {
    const inside = nodes.filter((_, at) => (mask & (1 << at)) !== 0);
    if (inside.length < narrowest && sum(inside, "size") >= requested) narrowest = inside.length;
    if (sum(inside, "kept") === kept && sum(inside, "free") >= requested) places.push(inside.map(({ id }) => id));
  }
  return places.map((place) => ({
    nodes: place,
    preferred: place.length === narrowest || (alignBySocket && onFewestSockets(topology, place, narrowest)),
  }));
}

/** Its nodes are on no more sockets than the narrowest set needs. */
function onFewestSockets(topology: CpuTopology, place: readonly number[], narrowest: number): boolean {
  const perSocket = Math.floor(topology.ids("numaNode").length / topology.ids("socket").length);
  if (perSocket === 0) return false;
  const cpus = place.flatMap((id) => [...topology.members("numaNode", id)]);
  return topology.groupsOf("socket", cpus).length === Math.ceil(narrowest / perSocket);
}

function sum<K extends string>(items: readonly Readonly<Record<K, number>>[], key: K): number {
  return items.reduce((total, item) => total + item[key], 0);
}
