// Go's duration text, as flags and config fields carry it: "1m30s", "1.5h", "-100ms", "0". Exact to the nanosecond and
// within Go's range (±2^63 ns, about 292 years). Parsing accepts and printing yields the same texts as Go.

import { withoutTrailing } from "../../shared/base/text/without-trailing.js";

const UNIT_NS: Readonly<Record<string, bigint>> = {
  h: 3_600_000_000_000n,
  m: 60_000_000_000n,
  s: 1_000_000_000n,
  ms: 1_000_000n,
  us: 1000n,
  µs: 1000n, // U+00B5
  μs: 1000n, // U+03BC
  ns: 1n,
};
const PART = /(\d*)(?:\.(\d*))?(ns|us|\u00B5s|\u03BCs|ms|s|m|h)/y;
const LIMIT = 1n << 63n;
const NS_PER_MS = 1_000_000n;

/** Nanoseconds, or undefined when the text is no duration or beyond Go's range. @internal */
export function parseDurationNs(text: string): bigint | undefined {
  const negative = text.startsWith("-");
  const body = /^[+-]/.test(text) ? text.slice(1) : text;
  if (body === "0") return 0n;
  if (body === "") return undefined;
  let total = 0n;
  PART.lastIndex = 0;
  for (let end = 0; end < body.length; end = PART.lastIndex) {
    const [, whole = "", fraction = "", unit = ""] = PART.exec(body) ?? [];
    const size = UNIT_NS[unit];
    if (size === undefined || (whole === "" && fraction === "")) return undefined;
    total += digits(whole) * size + fractionOf(fraction, size);
    if (total > LIMIT) return undefined;
  }
  // The most negative value has no positive counterpart.
  if (!negative && total === LIMIT) return undefined;
  return negative ? -total : total;
}

/** A number beyond Go's range comes back as some number beyond it: nothing is gained by reading a million digits. */
function digits(text: string): bigint {
  const significant = text.replace(/^0+/, "");
  return significant.length > 20 ? LIMIT + 1n : BigInt(significant);
}

/** `fraction` of a unit in whole ns, cut off; by way of a double as Go does it, so that both agree on the last ns. */
function fractionOf(fraction: string, size: bigint): bigint {
  // Go stops where another digit would not fit into 63 bits.
  let length = Math.min(fraction.length, 18);
  if (fraction.length > 18 && BigInt(fraction.slice(0, 19)) < LIMIT) length = 19;
  if (length === 0) return 0n;
  const scale = 10 ** length;
  return BigInt(Math.trunc(Number(BigInt(fraction.slice(0, length))) * (Number(size) / scale)));
}

/** As Go prints it: 90000000000n is "1m30s", 1500n is "1.5µs". @internal */
export function formatDurationNs(ns: bigint): string {
  if (ns === 0n) return "0s";
  const sign = ns < 0n ? "-" : "";
  const size = ns < 0n ? -ns : ns;
  if (size < 1000n) return `${sign}${size}ns`;
  if (size < NS_PER_MS) return `${sign}${decimal(size, 3)}µs`;
  if (size < 1_000_000_000n) return `${sign}${decimal(size, 6)}ms`;
  const minute = 60_000_000_000n;
  const minutes = size / minute;
  const seconds = `${decimal(size % minute, 9)}s`;
  if (minutes === 0n) return `${sign}${seconds}`;
  return minutes < 60n ? `${sign}${minutes}m${seconds}` : `${sign}${minutes / 60n}h${minutes % 60n}m${seconds}`;
}

/** `value` / 10^places without trailing zeros. */
function decimal(value: bigint, places: number): string {
  const scale = 10n ** BigInt(places);
  const fraction = withoutTrailing((value % scale).toString().padStart(places, "0"), "0");
  return fraction === "" ? (value / scale).toString() : `${value / scale}.${fraction}`;
}

/** Milliseconds, or undefined when the text is no duration. */
export function parseDuration(text: string): number | undefined {
  const ns = parseDurationNs(text);
  if (ns === undefined) return undefined;
  return ns % NS_PER_MS === 0n ? Number(ns / NS_PER_MS) : Number(ns) / 1e6;
}

/** Milliseconds (finite) as Go writes them: 90000 is "1m30s". */
export function formatDuration(ms: number): string {
  return formatDurationNs(Number.isInteger(ms) ? BigInt(ms) * NS_PER_MS : BigInt(Math.round(ms * 1e6)));
}
