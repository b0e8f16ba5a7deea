// Upstream's format of memory_manager_state, so that either kubelet reads the other's file. Its checksum is that of
// Go's debug print of the struct, type names and all (docs/adr/0031).

import { fnv32 } from "../../../shared/base/hash/fnv32.js";
import { omitUndefined } from "../../../shared/base/objects/omit-undefined.js";
import { type PodUid, podUid } from "../../../shared/kubernetes/identifiers.js";
import { listOf, recordOf } from "../json-shape.js";
import type { MachineMemory, MemoryAssignments, MemoryBlock, MemoryTable, NodeMemory } from "./machine-memory.js";

export const MEMORY_STATE_FILE = "memory_manager_state";

export interface MemoryState {
  policyName: string;
  machineState: MachineMemory;
  entries: MemoryAssignments;
  /** Memory of pods as a whole; undefined: the file format has no such pods. */
  pods?: ReadonlyMap<PodUid, readonly MemoryBlock[]> | undefined;
}

const STRUCT = "MemoryManagerCheckpoint";

export function encodeMemoryState(state: MemoryState): string {
  const { policyName, machineState, entries, pods = new Map<PodUid, readonly MemoryBlock[]>() } = state;
  const nodes = [...machineState].map(([id, { numberOfAssignments, memoryMap, cells }]) => [
    id,
    {
      numberOfAssignments,
      memoryMap: Object.fromEntries([...memoryMap].map(([name, table]) => [name, numbers(table)])),
      cells,
    },
  ]);
  const list = (blocks: readonly MemoryBlock[]): object[] =>
    blocks.map((block) => ({ ...block, size: Number(block.size) }));
  const containers = [...entries].map(([uid, one]) => [
    uid,
    Object.fromEntries([...one].map(([name, blocks]) => [name, list(blocks)])),
  ]);
  const whole = [...pods].map(([uid, blocks]) => [uid, blocks.length > 0 ? { memoryBlocks: list(blocks) } : {}]);
  return JSON.stringify(
    omitUndefined({
      policyName,
      machineState: Object.fromEntries(nodes) as unknown,
      entries: entries.size > 0 ? (Object.fromEntries(containers) as unknown) : undefined,
      podEntries: pods.size > 0 ? (Object.fromEntries(whole) as unknown) : undefined,
      checksum: fnv32(printed(state, STRUCT)),
    }),
  );
}

function numbers({
  total,
  systemReserved,
  allocatable,
  reserved,
  free,
}: MemoryTable): Record<keyof MemoryTable, number> {
  return {
    total: Number(total),
    systemReserved: Number(systemReserved),
    allocatable: Number(allocatable),
    reserved: Number(reserved),
    free: Number(free),
  };
}

/**
 * Throws if the value is not such a state, or if its checksum does not match. A checksum of 0, or none, is not
 * compared.
 */
export function decodeMemoryState(value: unknown): MemoryState {
  const { policyName, machineState, entries, podEntries, checksum } = recordOf(value, "the state");
  if (typeof policyName !== "string") throw new Error("not a state of the memory manager: it names no policy");
  const nodes = Object.entries(recordOf(machineState ?? {}, "machineState")).map(
    ([id, node]) => [intOf(Number(id), "a NUMA node's id"), decodeNode(node, `machineState[${id}]`)] as const,
  );
  const blocksOf = (list: unknown, where: string): MemoryBlock[] =>
    listOf(list, where).map((block) => decodeBlock(block, where));
  const containers = Object.entries(recordOf(entries ?? {}, "entries")).map(([uid, one]) => {
    const named = Object.entries(recordOf(one, uid));
    return [podUid(uid), new Map(named.map(([name, list]) => [name, blocksOf(list ?? [], `${uid}/${name}`)]))] as const;
  });
  const pods = Object.entries(recordOf(podEntries ?? {}, "podEntries")).map(([uid, one]) => {
    const where = `podEntries[${uid}]`;
    return [podUid(uid), blocksOf(recordOf(one, where)["memoryBlocks"] ?? [], where)] as const;
  });
  const state: MemoryState = {
    policyName,
    machineState: new Map(nodes.toSorted(([a], [b]) => a - b)),
    entries: new Map(containers),
  };
  const withPods: MemoryState = { ...state, pods: new Map(pods) };
  // Upstream prints another struct with the gate PodLevelResourceManagers than without it.
  const forms = [printed(withPods, STRUCT)];
  if (pods.length === 0) forms.push(printed(state, STRUCT), printed(state, `${STRUCT}V1`));
  if (checksum !== undefined && checksum !== 0 && !forms.some((form) => fnv32(form) === checksum)) {
    throw new Error("its checksum does not match its content");
  }
  return pods.length > 0 ? withPods : state;
}

function decodeNode(value: unknown, where: string): NodeMemory {
  const { numberOfAssignments, memoryMap, cells } = recordOf(value, where);
  const tables = Object.entries(recordOf(memoryMap, `${where}.memoryMap`)).map(([name, table]) => {
    const given = recordOf(table, `${where}.memoryMap[${name}]`);
    const bytes = (member: keyof MemoryTable): bigint =>
      bytesOf(given[member], `${where}.memoryMap[${name}].${member}`);
    const [total, systemReserved, allocatable] = [bytes("total"), bytes("systemReserved"), bytes("allocatable")];
    return [name, { total, systemReserved, allocatable, reserved: bytes("reserved"), free: bytes("free") }] as const;
  });
  return {
    numberOfAssignments: intOf(numberOfAssignments, `${where}.numberOfAssignments`),
    memoryMap: new Map(tables),
    cells: listOf(cells, `${where}.cells`).map((id) => intOf(id, `${where}.cells`)),
  };
}

function decodeBlock(value: unknown, where: string): MemoryBlock {
  const { numaAffinity, type, size } = recordOf(value, where);
  if (typeof type !== "string") throw new Error(`${where}: the type is missing`);
  const nodes = listOf(numaAffinity, `${where}.numaAffinity`).map((id) => intOf(id, `${where}.numaAffinity`));
  return { numaAffinity: nodes, type, size: bytesOf(size, `${where}.size`) };
}

function intOf(value: unknown, where: string): number {
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return value;
  throw new Error(`${where} is not a whole number of 0 or more`);
}

function bytesOf(value: unknown, where: string): bigint {
  return BigInt(intOf(value, where));
}

/** As Go prints it: maps by ascending keys, pointers as <*>. */
function printed({ policyName, machineState, entries, pods }: MemoryState, struct: string): string {
  const ints = (list: readonly number[]): string => `([]int)[${list.join(" ")}]`;
  const table = ({ total, systemReserved, allocatable, reserved, free }: MemoryTable): string =>
    `<*>{TotalMemSize:(uint64)${total} SystemReserved:(uint64)${systemReserved} Allocatable:(uint64)${allocatable} ` +
    `Reserved:(uint64)${reserved} Free:(uint64)${free}}`;
  const node = ({ numberOfAssignments, memoryMap, cells }: NodeMemory): string =>
    `<*>{NumberOfAssignments:(int)${numberOfAssignments} ` +
    `MemoryMap:(map[v1.ResourceName]*state.MemoryTable)${map(memoryMap, table)} Cells:${ints(cells)}}`;
  const block = ({ numaAffinity, type, size }: MemoryBlock): string =>
    `{NUMAAffinity:${ints(numaAffinity)} Type:(v1.ResourceName)${type} Size:(uint64)${size}}`;
  const nodes = [...machineState].toSorted(([a], [b]) => a - b).map(([id, one]) => `${id}:${node(one)}`);
  const list = (blocks: readonly MemoryBlock[]): string => `[${blocks.map(block).join(" ")}]`;
  const containers = map(entries, (one) => map(one, list));
  const whole =
    pods && map(pods, (blocks) => `{MemoryBlocks:([]state.Block)${blocks.length > 0 ? list(blocks) : "<nil>"}}`);
  const podEntries = whole === undefined ? "" : `PodEntries:(state.PodMemoryAssignments)${whole} `;
  return (
    `(*state.${struct}){PolicyName:(string)${policyName} MachineState:(state.NUMANodeMap)map[${nodes.join(" ")}] ` +
    `Entries:(state.ContainerMemoryAssignments)${containers} ${podEntries}Checksum:(checksum.Checksum)0}`
  );
}

function map<T>(members: ReadonlyMap<string, T>, print: (value: T) => string): string {
  const sorted = [...members].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `map[${sorted.map(([key, value]) => `${key}:${print(value)}`).join(" ")}]`;
}
