// Syntax and order of resource quantities ("100m", "1.5Gi", "2e3"), exact, for checking manifests.
// Numbers are compared as integers of nano units, the finest the API keeps.

const SYNTAX = /^([+-]?)(\d+(?:\.\d*)?|\.\d+)(?:([KMGTPE]i)|([numkMGTPE])|[eE]([+-]?\d{1,3}))?$/;
const DECIMAL: Readonly<Record<string, number>> = { n: -9, u: -6, m: -3, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };
const BINARY: Readonly<Record<string, bigint>> = { Ki: 10n, Mi: 20n, Gi: 30n, Ti: 40n, Pi: 50n, Ei: 60n };
const NANO = 9;

/** The quantity in nano units, rounded up, or undefined when it is no quantity. */
export function quantityNanos(value: string | number): bigint | undefined {
  const match = SYNTAX.exec(typeof value === "number" ? plainNumber(value) : value);
  if (match === null) return undefined;
  const [, sign, number = "", binary, decimal, exponent] = match;
  const [whole = "", fraction = ""] = number.split(".");
  const digits = BigInt(whole + fraction);
  const scale = NANO - fraction.length + (decimal === undefined ? Number(exponent ?? 0) : (DECIMAL[decimal] ?? 0));
  const shifted = binary === undefined ? digits : digits << (BINARY[binary] ?? 0n);
  const magnitude = scale >= 0 ? shifted * 10n ** BigInt(scale) : divideUp(shifted, 10n ** BigInt(-scale));
  return sign === "-" ? -magnitude : magnitude;
}

/** A number the way JSON writes it: 1e+21 has no "+" in the quantity grammar's sense, the rest is unchanged. */
function plainNumber(value: number): string {
  return String(value).replace("e+", "e");
}

function divideUp(value: bigint, by: bigint): bigint {
  return (value + by - 1n) / by;
}
