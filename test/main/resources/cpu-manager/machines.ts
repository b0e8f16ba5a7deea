// Made-up machines for the tests of the resource managers. They are numbered as kernels do: first one thread of every
// core, then the second threads.

import fc from "fast-check";
import type { MachineTopology, TopologyCpu } from "../../../../src/main/resources/topology/machine-topology.js";

export interface MachineShape {
  sockets: number;
  /** Number of NUMA nodes of each socket. */
  numaNodes: number;
  /** Number of cores of each NUMA node. */
  coresPerNode: number;
  threads: number;
  /** Cores that share a last-level cache; default: those of a NUMA node. */
  coresPerCache?: number;
}

export function machine(shape: MachineShape): MachineTopology {
  const { sockets, numaNodes, coresPerNode, threads, coresPerCache = coresPerNode } = shape;
  const nodes = sockets * numaNodes;
  const cores = nodes * coresPerNode;
  const cpus: TopologyCpu[] = Array.from({ length: cores * threads }, (_, id) => {
    const core = id % cores;
    const numaNode = Math.floor(core / coresPerNode);
    const inNode = core % coresPerNode;
    return {
      id,
      core,
      socket: Math.floor(numaNode / numaNodes),
      numaNode,
      uncoreCache: numaNode * coresPerNode + inNode - (inNode % coresPerCache),
    };
  });
  return {
    cpus,
    numaNodes: Array.from({ length: nodes }, (_, id) => ({
      id,
      cpus: cpus.filter(({ numaNode }) => numaNode === id).map((cpu) => cpu.id),
      memoryBytes: 1n << 33n,
      hugePages: new Map(),
      distances: new Map(Array.from({ length: nodes }, (_, other) => [other, other === id ? 10 : 21])),
    })),
  };
}

/** 1 to 8 NUMA nodes on 1 or 2 sockets, with and without SMT, with caches of their own for parts of a node. */
export const anyShape: fc.Arbitrary<MachineShape> = fc.record({
  sockets: fc.constantFrom(1, 2),
  numaNodes: fc.constantFrom(1, 2, 4),
  coresPerNode: fc.integer({ min: 1, max: 6 }),
  threads: fc.constantFrom(1, 2),
  coresPerCache: fc.integer({ min: 1, max: 3 }),
});
