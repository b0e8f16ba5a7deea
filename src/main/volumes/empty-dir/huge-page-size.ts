// Which huge pages back an emptyDir: the size its medium names, or the only one that the pod asks for. A volume of pages
// that the pod did not ask for could never hold a byte: the pod's cgroup allows none.
import type { Pod } from "../../../shared/api/pod.js";
import { parseQuantity, value } from "../../../shared/api/quantity.js";
import { hugePagesAsked } from "../../resources/huge-pages.js";

const ANY = "HugePages";

export function isHugePages(medium: string): boolean {
  return medium === ANY || medium.startsWith(`${ANY}-`);
}

/** Bytes, or in words what is wrong. */
export function hugePageSize(pod: Pod, medium: string): { bytes: bigint } | { problem: string } {
  const sizes = [...sizesOf(pod)];
  if (medium !== ANY) {
    const name = medium.slice(ANY.length + 1);
    const bytes = sizeOf(name);
    if (bytes === undefined) return { problem: `medium ${medium}: ${name} is no page size; write it as HugePages-2Mi` };
    if (sizes.includes(bytes)) return { bytes };
    return { problem: `medium ${medium}, but no container of the pod asks for hugepages-${name}` };
  }
  const [only, another] = sizes;
  if (only === undefined) return { problem: `medium ${ANY}, but no container of the pod asks for huge pages` };
  if (another !== undefined) {
    return { problem: `medium ${ANY} while containers request several page sizes; name one, as in HugePages-2Mi` };
  }
  return { bytes: only };
}

function sizeOf(name: string): bigint | undefined {
  try {
    const bytes = value(parseQuantity(name));
    return bytes > 0n ? bytes : undefined;
  } catch {
    return undefined; // no quantity
  }
}

function sizesOf(pod: Pod): Set<bigint> {
  const sizes = new Set<bigint>();
  for (const { resources } of [...pod.spec.containers, ...(pod.spec.initContainers ?? [])]) {
    for (const list of [resources?.requests, resources?.limits]) {
      for (const [size, asked] of hugePagesAsked(Object.entries(list ?? {}))) if (asked > 0n) sizes.add(size);
    }
  }
  return sizes;
}
