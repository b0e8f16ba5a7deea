// Resource quantities ("100m", "128Mi", "1e3") as an exact bigint count of billionths. Sums of requests decide QoS
// class, cgroup values and admission, and a rounding of 1 would change a pod's class. Format:
// https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/

import type { Quantity } from "./meta.js";

/** Print format of a quantity: suffixes m, k, M, …; suffixes Ki, Mi, …; or an exponent (e3). */
export type QuantityFormat = "DecimalSI" | "BinarySI" | "DecimalExponent";

/** A parsed quantity. Nothing finer than a billionth exists: finer text is rounded up (away from zero). */
export interface ExactQuantity {
  /** The value times 10^9, within ±(2^63-1)·10^9. */
  readonly nanos: bigint;
  readonly format: QuantityFormat;
}

/** Text or number as in a manifest, or already parsed. */
export type QuantityLike = Quantity | ExactQuantity;

/** A quantity that cannot be parsed. `text` is the original text. */
export class InvalidQuantityError extends Error {
  override readonly name = "InvalidQuantityError";
  readonly text: string;
  constructor(text: string, problem: string) {
    super(`quantity ${JSON.stringify(text)}: ${problem}; write a number with one of the suffixes ${SUFFIXES} or eN`);
    this.text = text;
  }
}

const NANO = 1_000_000_000n;
const MAX_NANOS = (2n ** 63n - 1n) * NANO;
const SUFFIXES = "n u m k M G T P E Ki Mi Gi Ti Pi Ei";
const DECIMAL_SUFFIXES: readonly (readonly [string, number])[] = [
  ["E", 18],
  ["P", 15],
  ["T", 12],
  ["G", 9],
  ["M", 6],
  ["k", 3],
  ["", 0],
  ["m", -3],
  ["u", -6],
  ["n", -9],
];
const BINARY_SUFFIXES: readonly (readonly [string, bigint])[] = [
  ["Ei", 1n << 60n],
  ["Pi", 1n << 50n],
  ["Ti", 1n << 40n],
  ["Gi", 1n << 30n],
  ["Mi", 1n << 20n],
  ["Ki", 1n << 10n],
];
const decimalExponent = new Map(DECIMAL_SUFFIXES);
const binaryFactor = new Map(BINARY_SUFFIXES);
const NUMBER = /^([+-]?)(\d*)(?:\.(\d*))?/;
const EXPONENT = /^[eE]([+-]?\d+)$/;
/** Beyond these powers of ten every value is capped, or rounds up to one billionth. */
const EXPONENT_LIMIT = 10_000;
/** Longer texts are refused before arithmetic on them could stall a thread. */
export const TEXT_LIMIT = 1024;

export const ZERO: ExactQuantity = { nanos: 0n, format: "DecimalSI" };

/**
 * Reads a quantity. As upstream, values beyond ±(2^63-1) are capped, and a suffix without a number ("Mi", what a
 * template leaves of an empty value) is zero; "Pi", "Ei" and exponents below -9 need one.
 *
 * @throws InvalidQuantityError
 */
export function parseQuantity(input: QuantityLike): ExactQuantity {
  if (typeof input === "object") return input;
  const text = typeof input === "number" ? String(input) : input;
  if (typeof text !== "string") throw new InvalidQuantityError(String(text), "is neither text nor a number");
  if (text.length > TEXT_LIMIT) throw new InvalidQuantityError(`${text.slice(0, 40)}…`, "is too long");
  const match = NUMBER.exec(text);
  const [number = "", sign = "", whole = "", fraction = ""] = match ?? [];
  const suffix = text.slice(number.length);
  const { exponent, factor, format } = readSuffix(text, suffix);
  const isZero = text !== "" && factor < 1n << 50n && exponent >= -9;
  if (whole === "" && fraction === "" && !isZero) throw new InvalidQuantityError(text, "has no number");
  const magnitude = scaleToNanos(BigInt(whole + fraction || "0") * factor, exponent - fraction.length);
  const capped = magnitude > MAX_NANOS ? MAX_NANOS : magnitude;
  return {
    nanos: sign === "-" ? -capped : capped,
    // Fractions below one have no binary form.
    format: format === "BinarySI" && capped < NANO && capped > 0n ? "DecimalSI" : format,
  };
}

function readSuffix(text: string, suffix: string): { exponent: number; factor: bigint; format: QuantityFormat } {
  const decimal = decimalExponent.get(suffix);
  if (decimal !== undefined) return { exponent: decimal, factor: 1n, format: "DecimalSI" };
  const binary = binaryFactor.get(suffix);
  if (binary !== undefined) return { exponent: 0, factor: binary, format: "BinarySI" };
  const exponent = EXPONENT.exec(suffix)?.[1];
  if (exponent === undefined) throw new InvalidQuantityError(text, `unknown suffix ${JSON.stringify(suffix)}`);
  const power = Math.max(-EXPONENT_LIMIT, Math.min(EXPONENT_LIMIT, Number(exponent)));
  return { exponent: power, factor: 1n, format: "DecimalExponent" };
}

function scaleToNanos(unscaled: bigint, exponent: number): bigint {
  if (unscaled === 0n) return 0n;
  const power = exponent + 9;
  return power >= 0 ? unscaled * 10n ** BigInt(power) : divideUp(unscaled, 10n ** BigInt(-power));
}

/** Integer division rounding away from zero, so that a non-zero request never becomes zero. */
function divideUp(a: bigint, b: bigint): bigint {
  const quotient = a / b;
  if (a % b === 0n) return quotient;
  return a < 0n ? quotient - 1n : quotient + 1n;
}

/** The value in whole units (bytes, cores), rounded up. */
export function value(quantity: QuantityLike): bigint {
  return divideUp(parseQuantity(quantity).nanos, NANO);
}

/** The value in thousandths (milli-CPU), rounded up. */
export function milliValue(quantity: QuantityLike): bigint {
  return divideUp(parseQuantity(quantity).nanos, 1_000_000n);
}

/** -1, 0 or 1. "1000m" and "1" are equal. */
export function compareQuantities(a: QuantityLike, b: QuantityLike): -1 | 0 | 1 {
  const left = parseQuantity(a).nanos;
  const right = parseQuantity(b).nanos;
  return left < right ? -1 : left > right ? 1 : 0;
}

/** The sum, printed in the format of `a`, or of `b` when `a` is zero. Capped like a parsed value. */
export function addQuantities(a: QuantityLike, b: QuantityLike): ExactQuantity {
  const left = parseQuantity(a);
  const right = parseQuantity(b);
  return { nanos: cap(left.nanos + right.nanos), format: left.nanos === 0n ? right.format : left.format };
}

export function maxQuantity(a: QuantityLike, b: QuantityLike): ExactQuantity {
  const left = parseQuantity(a);
  const right = parseQuantity(b);
  return right.nanos > left.nanos ? right : left;
}

function cap(nanos: bigint): bigint {
  return nanos > MAX_NANOS ? MAX_NANOS : nanos < -MAX_NANOS ? -MAX_NANOS : nanos;
}

/**
 * Canonical text: no fraction digits, the largest suffix that keeps the value exact. Binary suffixes are used from 1024
 * up and for whole numbers only; everything else prints decimally, so that no precision is lost.
 */
export function printQuantity(quantity: QuantityLike): string {
  const { nanos, format } = parseQuantity(quantity);
  if (nanos === 0n) return "0";
  const sign = nanos < 0n ? "-" : "";
  const magnitude = nanos < 0n ? -nanos : nanos;
  if (format === "BinarySI" && magnitude >= 1024n * NANO && magnitude % NANO === 0n) {
    return sign + printBinary(magnitude / NANO);
  }
  for (const [suffix, exponent] of DECIMAL_SUFFIXES) {
    const unit = 10n ** BigInt(exponent + 9);
    if (magnitude % unit !== 0n) continue;
    const ending = format !== "DecimalExponent" ? suffix : exponent === 0 ? "" : `e${exponent}`;
    return `${sign}${magnitude / unit}${ending}`;
  }
  return `${sign}${magnitude}n`;
}

function printBinary(units: bigint): string {
  for (const [suffix, factor] of BINARY_SUFFIXES) if (units % factor === 0n) return `${units / factor}${suffix}`;
  return units.toString();
}
