// The machine's CPUs, caches, sockets and NUMA nodes, as the resource managers see them. Plain data: made-up machines in
// tests have the same form.

export interface TopologyCpu {
  /** Logical CPU, as the kernel numbers it. */
  id: number;
  /** Lowest logical CPU of its physical core: unique on the machine. */
  core: number;
  socket: number;
  numaNode: number;
  /** Group of CPUs that share their last-level cache. */
  uncoreCache: number;
}

export interface NumaNode {
  id: number;
  /** Sorted. */
  cpus: readonly number[];
  memoryBytes: bigint;
  /** Page size in bytes to the bytes of its pool on this node. */
  hugePages: ReadonlyMap<bigint, bigint>;
  /** As the kernel has them, by NUMA node id: 10 to itself. */
  distances: ReadonlyMap<number, number>;
}

export interface MachineTopology {
  /** CPUs online, sorted by id. */
  cpus: readonly TopologyCpu[];
  /** Sorted by id; at least one. */
  numaNodes: readonly NumaNode[];
}
