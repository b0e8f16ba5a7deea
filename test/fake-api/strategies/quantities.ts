// Quantities are stored in the one canonical form, so that "0.5" is read back as "500m".

import type { Quantity } from "../../../src/shared/kubernetes/api/meta.js";
import { parseQuantity, printQuantity } from "../../../src/shared/kubernetes/api/quantity.js";
import { isFields, type Fields } from "../../../src/workers/apiserver/objects/object.js";

export function isQuantity(value: unknown): value is Quantity {
  return typeof value === "string" || typeof value === "number";
}

export function nanosOf(quantity: Quantity): bigint {
  return parseQuantity(quantity).nanos;
}

/** Rewrites the amounts of a resource list in place; invalid quantities are left to validation. */
export function canonicalAmounts(list: unknown): void {
  if (!isFields(list)) return;
  for (const [name, amount] of Object.entries(list)) {
    if (!isQuantity(amount)) continue;
    try {
      list[name] = printQuantity(parseQuantity(amount));
    } catch {
      // Refused by validation.
    }
  }
}

/** Requests and limits. */
export function canonicalResources(resources: Fields): void {
  canonicalAmounts(resources["requests"]);
  canonicalAmounts(resources["limits"]);
}
