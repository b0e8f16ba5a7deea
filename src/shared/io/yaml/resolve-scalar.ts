// What a scalar's text means, by the tables of YAML 1.1 as go-yaml has them. Yes, no, on, off, y and n are booleans,
// 0644 is octal; base-60 numbers and dates stay text.

import { bareBase64 } from "../../base/text/base64.js";
import { goText } from "../../base/text/go-text.js";
import { isTimestamp } from "./timestamp.js";
import type { ScalarValue } from "./tree.js";

const PREFIX = "tag:yaml.org,2002:";
export const MERGE_TAG = `${PREFIX}merge`;

const WORDS: ReadonlyMap<string, ScalarValue> = new Map<string, ScalarValue>([
  ...["y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"].map((word) => [word, true] as const),
  ...["n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"].map((word) => [word, false] as const),
  ...["", "~", "null", "Null", "NULL"].map((word) => [word, null] as const),
  ...[".nan", ".NaN", ".NAN"].map((word) => [word, NaN] as const),
  ...[".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"].map((word) => [word, Infinity] as const),
  ...["-.inf", "-.Inf", "-.INF"].map((word) => [word, -Infinity] as const),
]);

type Kind = "str" | "bool" | "int" | "float" | "null" | "timestamp";

/** A text with the tag cannot be read as what the tag says. */
export class TagMismatchError extends Error {
  override readonly name = "TagMismatchError";
}

export interface ResolvedScalar {
  kind: Kind;
  value: ScalarValue;
}

/**
 * `tag`: the whole tag, "" if there is none; `plain`: without quotes, so that the text decides.
 * Throws TagMismatchError.
 */
export function resolveScalar(tag: string, text: string, plain: boolean): ResolvedScalar {
  if (tag === "") return plain ? resolved(text, false) : string(text);
  if (!tag.startsWith(PREFIX)) return string(text);
  const wanted = tag.slice(PREFIX.length);
  switch (wanted) {
    case "binary":
      return string(binary(text));
    case "bool":
    case "int":
    case "float":
    case "null":
    case "timestamp":
      return tagged(wanted, text);
    default:
      return string(text);
  }
}

function string(value: string): ResolvedScalar {
  return { kind: "str", value };
}

function tagged(wanted: Kind, text: string): ResolvedScalar {
  const { kind, value } = resolved(text, wanted !== "timestamp");
  if (kind === wanted) return { kind, value };
  // Integers above those of 64 bits with a sign are not converted.
  if (wanted === "float" && kind === "int" && BigInt(value as number) < 2n ** 63n) {
    return { kind: "float", value: Number(value) };
  }
  throw new TagMismatchError(`${JSON.stringify(text.slice(0, 60))} is a !!${kind}, not a !!${wanted}`);
}

function resolved(text: string, ignoreTimestamps: boolean): ResolvedScalar {
  const first = text.charAt(0);
  if (!/^[-+.0-9yYnNtTfFoO~]?$/.test(first)) return string(text);
  const word = WORDS.get(text);
  if (word !== undefined) return { kind: kindOf(word), value: word };
  if (first === ".") return pointFloat(text) ?? string(text);
  if (!/^[-+0-9]/.test(first)) return string(text);
  if (!ignoreTimestamps && isTimestamp(text)) return { kind: "timestamp", value: text };
  const bare = text.replaceAll("_", "");
  return integer(bare) ?? decimalFloat(bare) ?? binaryInteger(bare) ?? string(text);
}

function kindOf(word: ScalarValue): Kind {
  if (word === null) return "null";
  return typeof word === "boolean" ? "bool" : "float";
}

const MIN_INT64 = -(2n ** 63n);
const MAX_UINT64 = 2n ** 64n - 1n;

/** An integer of 64 bits: with a sign up to 2^63-1, without one up to 2^64-1. */
function integer(text: string): ResolvedScalar | undefined {
  const match = /^([-+]?)(?:0([xX][0-9a-fA-F]+|[bB][01]+|[oO]?[0-7]+)|0|([1-9][0-9]*))$/.exec(text);
  if (match === null) return undefined;
  const [, sign = "", prefixed, decimal] = match;
  if (decimal !== undefined) return decimal.length > 20 ? undefined : bounded(sign, BigInt(decimal));
  if (prefixed === undefined) return bounded(sign, 0n);
  const base = prefixed.charAt(0).toLowerCase();
  const digits = prefixed.replace(/^[xXbBoO]/, "").replace(/^0+(?=.)/, "");
  return digits.length > 64 ? undefined : bounded(sign, BigInt(`0${/[xb]/.test(base) ? base : "o"}${digits}`));
}

function bounded(sign: string, magnitude: bigint): ResolvedScalar | undefined {
  const value = sign === "-" ? -magnitude : magnitude;
  const max = sign === "" ? MAX_UINT64 : 2n ** 63n - 1n;
  if (value < MIN_INT64 || value > max) return undefined;
  const number = Number(value);
  // A zero with a minus is an integer, and so has none.
  return { kind: "int", value: Number.isSafeInteger(number) ? number + 0 : value };
}

/** After "0b" a sign may follow, since only the rest is read as a number of base 2. */
function binaryInteger(text: string): ResolvedScalar | undefined {
  const match = /^0b([-+])0*([01]{1,64})$/.exec(text);
  if (match === null) return undefined;
  const [, sign = "", bits = ""] = match;
  return bounded(sign, BigInt(`0b${bits}`));
}

function decimalFloat(text: string): ResolvedScalar | undefined {
  if (!/^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/.test(text)) return undefined;
  const value = Number(text);
  return Number.isFinite(value) ? { kind: "float", value } : undefined;
}

/** A text that begins with a point is read as Go reads floating-point numbers: "_" stands between digits only. */
function pointFloat(text: string): ResolvedScalar | undefined {
  return /^\.[0-9]+(?:_[0-9]+)*(?:[eE][-+]?[0-9]+(?:_[0-9]+)*)?$/.test(text)
    ? decimalFloat(text.replaceAll("_", ""))
    : undefined;
}

/** As text: bytes that are not UTF-8 become U+FFFD, each one. */
function binary(text: string): string {
  const bare = bareBase64(text);
  if (bare === undefined) throw new TagMismatchError("a !!binary value is not base64");
  return goText(Buffer.from(bare, "base64"));
}
