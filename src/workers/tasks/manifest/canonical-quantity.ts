// The text of a quantity as upstream shows and sends it. Go keeps a text that it takes for canonical, and prints every
// other one anew.

import { parseQuantity, printQuantity, type ExactQuantity } from "../../../shared/kubernetes/api/quantity.js";

const SYNTAX = /^[+-]?(\d*)(?:\.(\d*))?([numkMGTPE]?|[KMGTPE]i|[eE][+-]?\d+)$/;
const POWERS: Readonly<Record<string, number>> = { n: -9, u: -6, m: -3, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };
/** Digits that surely fit into 64 bits. */
const MAX_DIGITS = 18;
const MILLI_POWER = -3;
const NANOS_OF_MILLI = 1_000_000n;

export interface CanonicalQuantity {
  nanos: bigint;
  text: string;
}

/** `roundsToMilli`: amounts of resources are rounded up to thousandths. Throws InvalidQuantityError. */
export function canonicalQuantity(written: string, roundsToMilli: boolean): CanonicalQuantity {
  const exact = parseQuantity(written);
  const power = canonicalPower(written);
  if (power !== undefined && (!roundsToMilli || power >= MILLI_POWER)) return { nanos: exact.nanos, text: written };
  const quantity = roundsToMilli ? inMillis(exact) : exact;
  return { nanos: exact.nanos, text: printQuantity(quantity) };
}

/** The power of ten of the last digit if Go keeps the text; undefined if it prints the quantity anew. */
function canonicalPower(written: string): number | undefined {
  const match = SYNTAX.exec(written);
  if (match === null) return undefined;
  const [, integer = "", fraction = "", suffix = ""] = match;
  const whole = integer.replace(/^0+/, "");
  const digits = (whole === "" ? "0" : whole) + fraction;
  if (suffix.endsWith("i") || digits.length > MAX_DIGITS) return undefined;
  const power = (/^[eE]./.test(suffix) ? Number(suffix.slice(1)) : (POWERS[suffix] ?? 0)) - fraction.length;
  const isKept = power >= -9 && power % 3 === 0 && !digits.endsWith("000") && !digits.startsWith("0");
  return isKept ? power : undefined;
}

function inMillis({ nanos, format }: ExactQuantity): ExactQuantity {
  const rest = nanos % NANOS_OF_MILLI;
  return { nanos: rest > 0n ? nanos - rest + NANOS_OF_MILLI : nanos - rest, format };
}
