// Which huge pages back an emptyDir: the size its medium names, or the only one that the pod requests. A volume of
// pages that the pod did not request could never hold a byte: the pod's cgroup allows none.

import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import { value, parseQuantity } from "../../../shared/kubernetes/api/quantity.js";
import { hugePagesAsked } from "../../resources/page-sizes.js";

const ANY = "HugePages";

export function isHugePages(medium: string): boolean {
  return medium === ANY || medium.startsWith(`${ANY}-`);
}

/** Returns the page size in bytes, or the problem as text. */
export function hugePageSize(pod: Pod, medium: string): { bytes: bigint } | { problem: string } {
  const sizes = [...sizesOf(pod)];
  if (medium !== ANY) {
    const name = medium.slice(ANY.length + 1);
    const bytes = sizeOf(name);
    if (bytes === undefined) return { problem: `medium ${medium}: ${name} is no page size; write it as HugePages-2Mi` };
    if (sizes.includes(bytes)) return { bytes };
    return { problem: `medium ${medium}, but the pod requests no hugepages-${name}` };
  }
  const [only, another] = sizes;
  if (only === undefined) return { problem: `medium ${ANY}, but the pod requests no huge pages` };
  if (another !== undefined) {
    return { problem: `medium ${ANY} while the pod requests several page sizes; name one, as in HugePages-2Mi` };
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
  for (const { resources } of [pod.spec, ...pod.spec.containers, ...(pod.spec.initContainers ?? [])]) {
    for (const list of [resources?.requests, resources?.limits]) {
      for (const [size, asked] of hugePagesAsked(Object.entries(list ?? {}))) if (asked > 0n) sizes.add(size);
    }
  }
  return sizes;
}
