// Made-up machines: as many NUMA nodes as wanted, with memory and CPUs on each.

import fc from "fast-check";
import type {
  MachineTopology,
  NumaNode,
  TopologyCpu,
} from "../../../../src/main/resources/topology/machine-topology.js";

const GIB = 1n << 30n;

export interface NodeShape {
  id: number;
  memoryBytes?: bigint;
  hugePages?: ReadonlyMap<bigint, bigint>;
}

/** Two CPUs a node; nodes next to each other are nearer. */
export function machine(shapes: readonly NodeShape[]): MachineTopology {
  const cpus: TopologyCpu[] = [];
  const numaNodes = shapes.map(({ id, memoryBytes = 4n * GIB, hugePages = new Map() }, place): NumaNode => {
    const ids = [2 * place, 2 * place + 1];
    for (const cpu of ids) cpus.push({ id: cpu, core: cpu, socket: place >> 1, numaNode: id, uncoreCache: place });
    const distances = new Map(
      shapes.map((other, there) => [other.id, there === place ? 10 : 11 + Math.abs(there - place)]),
    );
    return { id, cpus: ids, memoryBytes, hugePages, distances };
  });
  return { cpus, numaNodes };
}

/** 1 to 8 nodes; their ids may have gaps, as where some have no memory. */
export const machines = fc
  .uniqueArray(fc.integer({ min: 0, max: 11 }), { minLength: 1, maxLength: 8 })
  .map((ids) => machine(ids.sort((a, b) => a - b).map((id) => ({ id }))));
