// Page sizes of the kernel. Huge page sizes are converted from resource names ("hugepages-2Mi") and the host's
// directories to the kernel's names ("2MB").

import { readdir } from "node:fs/promises";
import type { ResourceList } from "../../shared/kubernetes/api/pod.js";
import { parseQuantity, value, type QuantityLike } from "../../shared/kubernetes/api/quantity.js";

const PREFIX = "hugepages-";
const HOST_DIR = "/sys/kernel/mm/hugepages";
const UNITS: readonly (readonly [string, bigint])[] = [
  ["GB", 1n << 30n],
  ["MB", 1n << 20n],
  ["KB", 1n << 10n],
];

/** 2097152n to "2MB", the spelling of the hugetlb controller and of CRI. */
export function hugePageSizeName(bytes: bigint): string {
  for (const [unit, factor] of UNITS) if (bytes >= factor && bytes % factor === 0n) return `${bytes / factor}${unit}`;
  return `${bytes}B`;
}

/**
 * A container's limits for every page size of the host. A size without a limit in the container has the pod's limit, or
 * 0. Huge pages are never unlimited by default.
 */
export function hugePageLimits(
  limits: ResourceList | undefined,
  podLimits: ResourceList | undefined,
  hostSizes: readonly bigint[],
): { pageSize: string; limit: bigint }[] {
  const asked = hugePagesAsked(Object.entries({ ...podLimits, ...limits }));
  return hostSizes.map((size) => ({ pageSize: hugePageSizeName(size), limit: asked.get(size) ?? 0n }));
}

/** Page size in bytes to requested bytes, of all "hugepages-<size>" entries. */
export function hugePagesAsked(entries: Iterable<readonly [string, QuantityLike]>): Map<bigint, bigint> {
  const asked = new Map<bigint, bigint>();
  for (const [name, quantity] of entries) {
    if (name.startsWith(PREFIX)) asked.set(value(parseQuantity(name.slice(PREFIX.length))), value(quantity));
  }
  return asked;
}

/** Sizes in bytes of the huge pages this host has, ascending; [] where the kernel has none. */
export async function hostHugePageSizes(directory = HOST_DIR): Promise<bigint[]> {
  const names = await readdir(directory).catch(() => []);
  const sizes = names.flatMap((name) => {
    const kib = /^hugepages-(\d+)kB$/.exec(name)?.[1];
    return kib === undefined ? [] : [BigInt(kib) * 1024n];
  });
  return sizes.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
}
