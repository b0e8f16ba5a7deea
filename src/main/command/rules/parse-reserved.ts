// Amounts in the configuration's text: reserved resources as in "cpu=500m,memory=1Gi", and percentages.

import { quoteStart } from "../../../shared/base/text/quote.js";
import { parseQuantity, type ExactQuantity, InvalidQuantityError } from "../../../shared/kubernetes/api/quantity.js";
import type { Violation } from "../violation.js";
import { notOneOf } from "./check.js";

const RESERVABLE = ["cpu", "memory", "ephemeral-storage", "pid"] as const;
type Reservable = (typeof RESERVABLE)[number];
export type ReservedResources = Partial<Record<Reservable, ExactQuantity>>;

/** The valid entries of the map `path`, and the problems of the others. */
export function parseReserved(
  path: string,
  given: Readonly<Record<string, string>>,
): { resources: ReservedResources; violations: Violation[] } {
  const resources: ReservedResources = {};
  const violations: Violation[] = [];
  for (const [name, text] of Object.entries(given)) {
    const refuse = (message: string): void => void violations.push({ path: `${path}[${name}]`, message });
    const resource = RESERVABLE.find((known) => known === name);
    const quantity = readQuantity(text);
    if (resource === undefined) refuse(notOneOf(name, RESERVABLE));
    else if (quantity === undefined) refuse(`${quoteStart(text)} is not a quantity such as 500m, 2 or 1Gi`);
    else if (quantity.nanos < 0n) refuse(`${quoteStart(text)} is not a quantity of 0 or more`);
    else resources[resource] = quantity;
  }
  return { resources, violations };
}

/** Undefined when the text is no quantity. */
export function readQuantity(text: string): ExactQuantity | undefined {
  try {
    return parseQuantity(text);
  } catch (error) {
    if (error instanceof InvalidQuantityError) return undefined;
    throw error;
  }
}
