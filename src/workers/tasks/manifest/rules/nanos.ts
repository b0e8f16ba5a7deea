// The amount of a quantity that a manifest has, for rules that compare amounts.

import { InvalidQuantityError, parseQuantity, type QuantityLike } from "../../../../shared/kubernetes/api/quantity.js";

/** In billionths; undefined: no quantity, which has been reported where it stands. */
export function nanosOf(quantity: QuantityLike): bigint | undefined {
  try {
    return parseQuantity(quantity).nanos;
  } catch (error) {
    if (error instanceof InvalidQuantityError) return undefined;
    throw error;
  }
}
