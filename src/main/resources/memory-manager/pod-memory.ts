// Gate PodLevelResourceManagers, scope pod: a Guaranteed pod with pod-level resources gets its memory as a whole, on
// common NUMA nodes. Some of its containers get exclusive parts of it, the others share the rest. Pure.
// Invariant: no container of such a pod has memory of another pod, and none is left without any.

import { containersOf } from "../../../shared/kubernetes/api/pod-containers.js";
import { isSidecar, type Container, type Pod } from "../../../shared/kubernetes/api/pod.js";
import type { MemoryBlock } from "./machine-memory.js";
import type { MemoryRequests } from "./place-memory.js";

/** The exclusive memory that a container requests; empty: it shares. */
export type MemoryWanted = (container: Container) => MemoryRequests;

/** The reason why the pod's memory can't be divided; undefined: it can. */
export function podMemoryProblem({ spec }: Pod, total: MemoryRequests, wanted: MemoryWanted): string | undefined {
  const stays = new Map<string, bigint>();
  let sharers = false;
  for (const container of spec.initContainers ?? []) {
    const own = wanted(container);
    if (isSidecar(container)) {
      sharers ||= own.size === 0;
      add(stays, own);
    } else if (own.size === 0) {
      const full = usedUp(total, stays);
      if (full !== undefined) return `pod rejected, pod has shared init containers but no ${full} available for them`;
    }
  }
  for (const container of spec.containers) {
    const own = wanted(container);
    sharers ||= own.size === 0;
    add(stays, own);
  }
  const full = sharers ? usedUp(total, stays) : undefined;
  if (full === undefined) return undefined;
  return `pod rejected, sum of exclusive container ${full} requests equals pod budget, leaving no memory for shared containers`;
}

export interface MemoryParts {
  /** By container. */
  blocks: Map<string, readonly MemoryBlock[]>;
  /** Containers with a part of their own. */
  exclusive: number;
}

/** An init container that ends has its part only until then. */
export function divideMemory(
  { spec }: Pod,
  total: MemoryRequests,
  nodes: readonly number[],
  wanted: MemoryWanted,
): MemoryParts {
  const blocks = new Map<string, readonly MemoryBlock[]>();
  const sharers: string[] = [];
  const left = new Map(total);
  let exclusive = 0;
  const inits = new Set(spec.initContainers);
  for (const container of containersOf(spec)) {
    const own = wanted(container);
    const ends = inits.has(container) && !isSidecar(container);
    if (own.size === 0 && !ends) {
      sharers.push(container.name);
      continue;
    }
    blocks.set(container.name, blocksOf(own.size === 0 ? left : own, nodes));
    if (own.size > 0) exclusive++;
    if (!ends) for (const [name, size] of own) left.set(name, (left.get(name) ?? 0n) - size);
  }
  for (const name of sharers) blocks.set(name, blocksOf(left, nodes));
  return { blocks, exclusive };
}

export function blocksOf(requests: MemoryRequests, nodes: readonly number[]): MemoryBlock[] {
  return [...requests].flatMap(([type, size]) => (size > 0n ? [{ numaAffinity: nodes, type, size }] : []));
}

/** The first resource of which nothing is left. */
function usedUp(total: MemoryRequests, used: MemoryRequests): string | undefined {
  return [...total].find(([name, size]) => (used.get(name) ?? 0n) >= size)?.[0];
}

function add(sums: Map<string, bigint>, more: MemoryRequests): void {
  for (const [name, size] of more) sums.set(name, (sums.get(name) ?? 0n) + size);
}
