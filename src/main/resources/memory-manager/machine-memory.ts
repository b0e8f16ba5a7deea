// The memory of each NUMA node, and the part that is free beside the containers' allocations. Invariant: a node serves
// either single-node allocations or one group of nodes, never both. The allocated amount is the sum of all blocks, so
// this state can always be computed from them.

import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import { hugePagesResource } from "../node-capacity.js";
import type { MachineTopology } from "../topology/machine-topology.js";

/** Bytes. */
export interface MemoryTable {
  total: bigint;
  systemReserved: bigint;
  allocatable: bigint;
  reserved: bigint;
  free: bigint;
}

export interface NodeMemory {
  /** Blocks on this node, at least in part. */
  numberOfAssignments: number;
  /** By resource: "memory", "hugepages-2Mi". */
  memoryMap: Map<string, MemoryTable>;
  /** The nodes that serve together with this one, itself among them. Sorted. */
  cells: readonly number[];
}

/** By NUMA node id. */
export type MachineMemory = ReadonlyMap<number, NodeMemory>;

/** Memory of one kind that a container holds on some nodes together. */
export interface MemoryBlock {
  /** Sorted. */
  numaAffinity: readonly number[];
  /** Resource name. */
  type: string;
  /** Bytes. 0: all of it went on to a later container of the pod. */
  size: bigint;
}

/** Memory of each pod, by container name. */
export type MemoryAssignments = ReadonlyMap<PodUid, ReadonlyMap<string, readonly MemoryBlock[]>>;

/** Bytes by NUMA node id and resource. */
export type ReservedMemory = ReadonlyMap<number, ReadonlyMap<string, bigint>>;

/** No container holds memory. Huge pages are subtracted from the node's memory. */
export function emptyMemory({ numaNodes }: MachineTopology, reserved: ReservedMemory): MachineMemory {
  const nodes = numaNodes.map(({ id, memoryBytes, hugePages }): [number, NodeMemory] => {
    const kept = (resource: string): bigint => reserved.get(id)?.get(resource) ?? 0n;
    const memoryMap = new Map<string, MemoryTable>();
    let inPages = 0n;
    for (const [size, bytes] of hugePages) {
      const resource = hugePagesResource(size);
      memoryMap.set(resource, emptyTable(bytes, kept(resource), 0n));
      inPages += bytes;
    }
    memoryMap.set("memory", emptyTable(memoryBytes, kept("memory"), inPages));
    return [id, { numberOfAssignments: 0, memoryMap, cells: [id] }];
  });
  return new Map(nodes);
}

function emptyTable(total: bigint, systemReserved: bigint, inPages: bigint): MemoryTable {
  const left = total - systemReserved - inPages;
  const allocatable = left > 0n ? left : 0n;
  return { total, systemReserved, allocatable, reserved: 0n, free: allocatable };
}

/** `empty` with all blocks taken from it: of a group the lowest node first. */
export function occupied(empty: MachineMemory, assignments: MemoryAssignments): MachineMemory {
  const machine = new Map(
    [...empty].map(([id, { memoryMap, cells }]) => [
      id,
      {
        numberOfAssignments: 0,
        cells,
        memoryMap: new Map([...memoryMap].map(([name, table]) => [name, { ...table }])),
      },
    ]),
  );
  for (const containers of assignments.values()) {
    for (const { numaAffinity, type, size } of [...containers.values()].flat()) {
      let rest = size;
      for (const id of numaAffinity) {
        const node = machine.get(id);
        if (node === undefined) continue;
        node.numberOfAssignments++;
        node.cells = numaAffinity;
        const table = node.memoryMap.get(type);
        if (table === undefined) continue;
        const taken = rest < table.free ? rest : table.free;
        table.free -= taken;
        table.reserved += taken;
        rest -= taken;
      }
    }
  }
  return machine;
}

/** Bytes free, or allocatable, on all these nodes together. */
export function sumOn(
  machine: MachineMemory,
  ids: readonly number[],
  resource: string,
  of: "free" | "allocatable",
): bigint {
  return ids.reduce((sum, id) => sum + (machine.get(id)?.memoryMap.get(resource)?.[of] ?? 0n), 0n);
}

export function sameNodes(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((id, index) => id === b[index]);
}

/** True if these nodes may be used together, given their present blocks. */
export function mayServe(machine: MachineMemory, ids: readonly number[]): boolean {
  return ids.every((id) => {
    const node = machine.get(id);
    return node !== undefined && (node.numberOfAssignments === 0 || sameNodes(node.cells, ids));
  });
}
