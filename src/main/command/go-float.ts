// Numbers with a fraction as Go's strconv.ParseFloat reads them: decimal or hexadecimal, with underscores between
// digits (https://pkg.go.dev/strconv#ParseFloat).

const DECIMAL = /^[+-]?(?:\d+(?:_\d+)*(?:\.(?:\d+(?:_\d+)*)?)?|\.\d+(?:_\d+)*)(?:e[+-]?\d+(?:_\d+)*)?$/i;
const HEX = /^([+-]?)0x(?:_?([\da-f]+(?:_[\da-f]+)*))?(?:\.([\da-f]+(?:_[\da-f]+)*)?)?p([+-]?\d+(?:_\d+)*)$/i;
const SPECIAL = /^(?:nan|([+-]?)inf(?:inity)?)$/i;
/** Longer than any number that makes a difference. */
const LONGEST = 400;

/** Undefined when the text is no number, or beyond the range of `bits`. */
export function parseGoFloat(text: string, bits: 32 | 64 = 64): number | undefined {
  if (text.length > LONGEST) return undefined;
  const special = SPECIAL.exec(text);
  if (special !== null) return special[1] === undefined ? NaN : special[1] === "-" ? -Infinity : Infinity;
  const exact = DECIMAL.test(text) ? Number(text.replaceAll("_", "")) : hexadecimal(text);
  const value = bits === 32 && exact !== undefined ? Math.fround(exact) : exact;
  return value !== undefined && Number.isFinite(value) ? value : undefined;
}

function hexadecimal(text: string): number | undefined {
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = HEX.exec(text.replaceAll("_", "")) ?? [];
  const digits = whole + fraction;
  if (digits === "" || !HEX.test(text)) return undefined;
  const size = Number(BigInt(`0x${digits}`)) * 2 ** (Number(exponent) - 4 * fraction.length);
  return sign === "-" ? -size : size;
}
