// The machine's CPUs, caches, sockets and NUMA nodes, for the resource managers. Plain data: machines of tests have the
// same form.

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

/** Reads the machine's topology once; all callers share the result. */
export type MachineReading = () => Promise<MachineTopology>;
