// A resize is refused while the pod's node is not known. It is also refused when it asks for more than the node has at
// all.

import { ApiError, forbidden } from "../../../src/workers/apiserver/objects/errors.js";
import { fieldsAt, isSame, listAt, textAt, type ApiObject } from "../../../src/workers/apiserver/objects/object.js";
import type { Target, WriteContext } from "../registry/request.js";
import { resourceNamed } from "../resources.js";
import { isQuantity, nanosOf } from "../strategies/quantities.js";

export function admitResize(
  { resource, name }: Target,
  next: ApiObject,
  old: ApiObject,
  { world }: WriteContext,
): void {
  if (isSame(next.spec, old.spec)) return;
  const node = textAt(old.spec, "nodeName");
  if (node === undefined) return;
  const found = world.store.get(resourceNamed("nodes"), node);
  if (found === undefined) throw forbidden(resource, name, `node "${node}" not found`);
  const allocatable = fieldsAt(found.status, "allocatable");
  for (const amount of ["cpu", "memory"]) {
    const [wanted, there] = [requested(next, amount), allocatable[amount]];
    if (!isQuantity(there) || wanted <= nanosOf(there)) continue;
    const unit = amount === "cpu" ? 1_000_000n : 1_000_000_000n;
    const message = `node didn't have enough allocatable resources: ${amount}, requested: ${wanted / unit}, allocatable: ${nanosOf(there) / unit}`;
    const refusal = forbidden(resource, name, message);
    const causes = [{ reason: "NodeCapacity", message: "" }];
    throw new ApiError(403, refusal.reason, refusal.message, { ...refusal.details, causes });
  }
}

/** Returns the sum of the requests of all containers. */
function requested(pod: ApiObject, amount: string): bigint {
  return listAt(pod.spec, "containers")
    .map((container) => fieldsAt(fieldsAt(container, "resources"), "requests")[amount])
    .filter(isQuantity)
    .reduce((sum, one) => sum + nanosOf(one), 0n);
}
