// Checks reservedMemory against the node's whole reservation (kubeReserved, systemReserved, hard eviction threshold).
// The two must be equal: else the NUMA nodes and node allocatable offer different amounts of memory.

import { OperatorError } from "../../../shared/base/errors/operator-error.js";
import {
  addQuantities,
  printQuantity,
  value,
  ZERO,
  type ExactQuantity,
} from "../../../shared/kubernetes/api/quantity.js";
import { parseReserved } from "../../command/rules/parse-reserved.js";
import type { MemoryReservation } from "../../command/value-types.js";
import { evictionSetAside, type EvictionReserveSettings } from "../node-allocatable/reserved.js";
import { nodeAllocatable } from "../node-capacity.js";
import type { MachineTopology } from "../topology/machine-topology.js";
import type { ReservedMemory } from "./machine-memory.js";

export interface ReservationSettings extends EvictionReserveSettings {
  reservedMemory: readonly MemoryReservation[];
  kubeReserved: Readonly<Record<string, string>>;
  systemReserved: Readonly<Record<string, string>>;
  memoryBytes: bigint;
}

/** @throws OperatorError */
export function reservedMemory(settings: ReservationSettings, { numaNodes }: MachineTopology): ReservedMemory {
  const reserved = new Map<number, Map<string, bigint>>(numaNodes.map(({ id }) => [id, new Map()]));
  const totals = new Map<string, ExactQuantity>();
  for (const { numaNode, limits } of settings.reservedMemory) {
    const node = reserved.get(numaNode);
    if (node === undefined) {
      const known = numaNodes.map(({ id }) => id).join(", ");
      throw new OperatorError(
        `the reserved memory configuration references a NUMA node ${numaNode} that does not exist on this machine: ` +
          `name only ${known} in reservedMemory`,
      );
    }
    for (const [resource, amount] of Object.entries(limits)) {
      node.set(resource, value(amount));
      totals.set(resource, addQuantities(totals.get(resource) ?? ZERO, amount));
    }
  }
  const kept = keptBack(settings);
  for (const resource of new Set([...totals.keys(), "memory"])) {
    const total = totals.get(resource) ?? ZERO;
    const wanted = resource === "memory" ? kept : ZERO;
    if (total.nanos === wanted.nanos) continue;
    throw new OperatorError(
      `the total amount "${printQuantity(total)}" of type "${resource}" is not equal to the value ` +
        `"${printQuantity(wanted)}" determined by Node Allocatable feature: make the sum of reservedMemory over all NUMA nodes ` +
        "that of kubeReserved, systemReserved and evictionHard[memory.available]",
    );
  }
  if ((totals.get("memory")?.nanos ?? 0n) === 0n) {
    throw new OperatorError(
      "[memorymanager] you should specify the system reserved memory: set reservedMemory and as much of kubeReserved, " +
        "systemReserved or evictionHard[memory.available]",
    );
  }
  return reserved;
}

/**
 * kubeReserved, systemReserved and the hard eviction threshold, of memory. Validation has refused what can't be read.
 */
function keptBack(settings: ReservationSettings): ExactQuantity {
  const { kubeReserved, systemReserved, memoryBytes } = settings;
  const kube = parseReserved("kubeReserved", kubeReserved).resources;
  const system = parseReserved("systemReserved", systemReserved).resources;
  const capacity = { nanos: memoryBytes * 1_000_000_000n, format: "BinarySI" as const };
  const thresholds = evictionSetAside(settings);
  const left = nodeAllocatable(new Map([["memory", capacity]]), [kube, system], thresholds).get("memory") ?? capacity;
  return { nanos: capacity.nanos - left.nanos, format: "BinarySI" };
}
