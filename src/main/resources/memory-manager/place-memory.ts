// Computes the possible and the chosen NUMA nodes for a container's memory, from the machine's memory and the pod's
// allocations. Pure. Ordinary init containers exit before later containers run, so later containers reuse their memory
// on the same nodes.

import type { TopologyHint } from "../assignment/resource-manager.js";
import { AllocationError } from "../assignment/resource-manager.js";
import { subsets } from "../topology/numa-sets.js";
import { mayServe, sameNodes, sumOn, type MachineMemory, type MemoryBlock } from "./machine-memory.js";

/** Bytes by resource: "memory", "hugepages-2Mi". */
export type MemoryRequests = ReadonlyMap<string, bigint>;

/** Bytes of a resource that containers of the pod can reuse on exactly these nodes. */
export type Reusable = (nodes: readonly number[], resource: string) => bigint;

/**
 * Sets of nodes that can serve all requests together, narrow ones first. A set is preferred if an empty machine would
 * need as many nodes. The topology manager's policy decides whether a wider set is accepted.
 */
export function memoryHints(machine: MachineMemory, requests: MemoryRequests, reusable: Reusable): TopologyHint[] {
  if (requests.size === 0) return [];
  const hints: { nodes: number[] }[] = [];
  let least = machine.size;
  for (const nodes of subsets([...machine.keys()])) {
    if (![...requests].every(([name, size]) => sumOn(machine, nodes, name, "allocatable") >= size)) continue;
    least = Math.min(least, nodes.length);
    if (!mayServe(machine, nodes)) continue;
    const enough = [...requests].every(
      ([name, size]) => sumOn(machine, nodes, name, "free") + reusable(nodes, name) >= size,
    );
    if (enough) hints.push({ nodes });
  }
  return hints.map(({ nodes }) => ({ nodes, preferred: nodes.length === least }));
}

/**
 * The nodes to allocate on: the merged affinity of all managers, or a superset if it is too small.
 * @throws AllocationError
 */
export function choosePlace(
  machine: MachineMemory,
  requests: MemoryRequests,
  affinity: TopologyHint | undefined,
  reusable: Reusable,
): readonly number[] {
  const { nodes = [], preferred = false } = affinity ?? {};
  const large = [...requests].every(([name, size]) => sumOn(machine, nodes, name, "free") >= size);
  if (nodes.length > 0 && large && mayServe(machine, nodes)) return nodes;
  const wider = memoryHints(machine, requests, reusable).filter((hint) => nodes.every((id) => hint.nodes.includes(id)));
  const best = wider.find((hint) => hint.preferred) ?? wider[0];
  if (best === undefined) throw unexpected(nodes.length === 0 ? NO_DEFAULT : large ? VIOLATES : NO_EXTENSION);
  if (preferred && !best.preferred) throw unexpected(NOT_PREFERRED);
  return best.nodes;
}

const NO_DEFAULT =
  "[memorymanager] failed to get the default NUMA affinity, no NUMA nodes with enough memory is available";
const NO_EXTENSION = "[memorymanager] failed to find NUMA nodes to extend the current topology hint";
const NOT_PREFERRED = "[memorymanager] failed to find the extended preferred hint";
const VIOLATES = "[memorymanager] preferred hint violates NUMA node allocation";

function unexpected(message: string): AllocationError {
  return new AllocationError("UnexpectedAdmissionError", message);
}

/**
 * The blocks of `ended` containers, less the part that `taken` reuses on the same nodes. Sizes shrink; no block is
 * removed.
 */
export function reuse(
  ended: readonly (readonly MemoryBlock[])[],
  taken: readonly MemoryBlock[],
): readonly (readonly MemoryBlock[])[] {
  const rest = taken.map(({ size }) => size);
  return ended.map((blocks) =>
    blocks.map((block) => {
      const index = taken.findIndex(
        ({ type, numaAffinity }) => type === block.type && sameNodes(numaAffinity, block.numaAffinity),
      );
      const wanted = rest[index] ?? 0n;
      const used = wanted < block.size ? wanted : block.size;
      rest[index] = wanted - used;
      return used === 0n ? block : { ...block, size: block.size - used };
    }),
  );
}
