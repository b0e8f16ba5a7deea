// Capacity and allocatable of the node. Pure, except for reading the huge page pools.
// Source: https://kubernetes.io/docs/tasks/administer-cluster/reserve-compute-resources/

import { readFile } from "node:fs/promises";
import { partOf, type EvictionSignal, type EvictionThreshold } from "../../shared/kubernetes/api/eviction-threshold.js";
import type { ExactQuantity } from "../../shared/kubernetes/api/quantity.js";
import { hugePageSizeName } from "./page-sizes.js";

/** Resource name ("cpu", "memory", "ephemeral-storage", "pods", "hugepages-2Mi") to quantity. */
export type NodeResources = ReadonlyMap<string, ExactQuantity>;

const NANO = 1_000_000_000n;

export interface Capacity {
  cpuCount: number;
  memoryBytes: bigint;
  /** Size of the file system that holds the root directory, bytes. */
  storageBytes: bigint;
  maxPods: number;
  /** Page size to the bytes of its pool. */
  hugePages: ReadonlyMap<bigint, bigint>;
}

export function nodeCapacity(given: Capacity): NodeResources {
  const capacity = new Map<string, ExactQuantity>([
    ["cpu", { nanos: BigInt(given.cpuCount) * NANO, format: "DecimalSI" }],
    ["memory", bytes(given.memoryBytes)],
    ["ephemeral-storage", bytes(given.storageBytes)],
    ["pods", { nanos: BigInt(given.maxPods) * NANO, format: "DecimalSI" }],
  ]);
  for (const [size, pool] of given.hugePages) capacity.set(hugePagesResource(size), bytes(pool));
  return capacity;
}

/** 2 MiB to "hugepages-2Mi". */
export function hugePagesResource(size: bigint): string {
  return `hugepages-${hugePageSizeName(size).replace(/B$/, "i")}`;
}

/** Upstream's rule for --pods-per-core: 0 sets no limit. */
export function podCapacity(maxPods: number, podsPerCore: number, cpuCount: number): number {
  return podsPerCore > 0 ? Math.min(maxPods, cpuCount * podsPerCore) : maxPods;
}

type Reserved = Readonly<Partial<Record<string, ExactQuantity>>>;

/**
 * Capacity minus the reserved resources minus the hard eviction thresholds; never below zero. Huge pages are subtracted
 * from the memory.
 */
export function nodeAllocatable(
  capacity: NodeResources,
  reserved: readonly Reserved[],
  thresholds: readonly EvictionThreshold[],
): NodeResources {
  const allocatable = new Map<string, ExactQuantity>();
  for (const [name, { nanos, format }] of capacity) {
    let left = nanos;
    for (const part of reserved) left -= part[name]?.nanos ?? 0n;
    left -= evictionReserve(name, nanos, thresholds);
    allocatable.set(name, { nanos: left > 0n ? left : 0n, format });
  }
  const memory = allocatable.get("memory");
  if (memory === undefined) return allocatable;
  let free = memory.nanos;
  for (const [name, { nanos }] of allocatable) if (name.startsWith("hugepages-")) free -= nanos;
  allocatable.set("memory", { nanos: free > 0n ? free : 0n, format: memory.format });
  return allocatable;
}

const SIGNAL_OF: Readonly<Partial<Record<string, EvictionSignal>>> = {
  memory: "memory.available",
  "ephemeral-storage": "nodefs.available",
};

/** The amount of the resource that a hard threshold keeps free, nanos as capacity. */
export function evictionReserve(name: string, capacity: bigint, thresholds: readonly EvictionThreshold[]): bigint {
  const threshold = thresholds.find(({ hard, signal }) => hard && signal === SIGNAL_OF[name]);
  if (threshold === undefined) return 0n;
  const { value } = threshold;
  if (value.kind === "quantity") return value.units * NANO;
  return BigInt(partOf(Number(capacity / NANO), value.percent)) * NANO;
}

function bytes(count: bigint): ExactQuantity {
  return { nanos: count * NANO, format: "BinarySI" };
}

/** Bytes of each huge page pool, by page size. A pool that can't be read is empty. */
export async function hugePagePools(
  sizes: readonly bigint[],
  directory = "/sys/kernel/mm/hugepages",
): Promise<Map<bigint, bigint>> {
  const pools = sizes.map(async (size) => {
    const text = await readFile(`${directory}/hugepages-${size / 1024n}kB/nr_hugepages`, "utf8").catch(() => "0");
    return [size, BigInt(text.trim()) * size] as const;
  });
  return new Map(await Promise.all(pools));
}
