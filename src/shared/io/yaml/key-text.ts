import type { ScalarNode } from "./nodes.js";

const MAX_INT64 = 2n ** 63n - 1n;

/** A map's key as the key of JSON; undefined if it cannot be one: null, and integers beyond 64 bits with a sign. */
export function keyText({ value, isFloat }: ScalarNode): string | undefined {
  if (typeof value === "string") return value;
  if (value === null || (typeof value === "bigint" && value > MAX_INT64)) return undefined;
  return isFloat && typeof value === "number" ? floatText(value) : String(value);
}

/** As Go writes a number of 32 bits: with the digits that tell it from others, and an exponent beside them. */
function floatText(value: number): string {
  if (Number.isNaN(value)) return ".nan";
  const rounded = Math.fround(value);
  if (!Number.isFinite(rounded)) return rounded < 0 ? "-.inf" : ".inf";
  if (rounded === 0) return Object.is(rounded, -0) ? "-0" : "0";
  let shortest = rounded.toExponential();
  for (let digits = 0; digits <= 8; digits++) {
    const text = rounded.toExponential(digits);
    if (Math.fround(Number(text)) !== rounded) continue;
    shortest = text;
    break;
  }
  const [mantissa = "", exponentText = "0"] = shortest.split("e");
  const exponent = Number(exponentText);
  if (exponent >= -4 && exponent < 6) return String(Number(shortest));
  return `${mantissa}e${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`;
}
