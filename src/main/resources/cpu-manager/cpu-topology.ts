// The machine's CPUs by the groups they form: cores, sockets, NUMA nodes, last-level caches.

import type { MachineTopology, TopologyCpu } from "../topology/machine-topology.js";
import type { CpuSet } from "./cpu-set.js";

export type CpuGroup = "core" | "socket" | "numaNode" | "uncoreCache";

export class CpuTopology {
  readonly all: CpuSet;
  private readonly byId: ReadonlyMap<number, TopologyCpu>;
  private readonly groups: Readonly<Record<CpuGroup, ReadonlyMap<number, CpuSet>>>;

  constructor({ cpus }: Pick<MachineTopology, "cpus">) {
    this.byId = new Map(cpus.map((cpu) => [cpu.id, cpu]));
    this.all = new Set(this.byId.keys());
    this.groups = {
      core: grouped(cpus, "core"),
      socket: grouped(cpus, "socket"),
      numaNode: grouped(cpus, "numaNode"),
      uncoreCache: grouped(cpus, "uncoreCache"),
    };
  }

  /** Ids of the groups of a kind, ascending. NUMA nodes without CPUs are none here. */
  ids(kind: CpuGroup): number[] {
    return [...this.groups[kind].keys()];
  }

  members(kind: CpuGroup, id: number): CpuSet {
    return this.groups[kind].get(id) ?? new Set();
  }

  /** The group of a CPU; undefined for one that is not online. */
  groupOf(kind: CpuGroup, cpu: number): number | undefined {
    return this.byId.get(cpu)?.[kind];
  }

  /** Ids of the groups that the CPUs are in, ascending. */
  groupsOf(kind: CpuGroup, cpus: Iterable<number>): number[] {
    const ids = new Set<number>();
    for (const cpu of cpus) {
      const id = this.groupOf(kind, cpu);
      if (id !== undefined) ids.add(id);
    }
    return [...ids].sort((a, b) => a - b);
  }

  /** Hardware threads of a core, as upstream counts them: CPUs by cores, rounded down. */
  get cpusPerCore(): number {
    return Math.max(1, Math.floor(this.all.size / Math.max(1, this.groups.core.size)));
  }
}

function grouped(cpus: readonly TopologyCpu[], kind: CpuGroup): ReadonlyMap<number, CpuSet> {
  const groups = new Map<number, Set<number>>();
  for (const cpu of cpus.toSorted((a, b) => a[kind] - b[kind] || a.id - b.id)) {
    const group = groups.get(cpu[kind]);
    if (group === undefined) groups.set(cpu[kind], new Set([cpu.id]));
    else group.add(cpu.id);
  }
  return groups;
}
