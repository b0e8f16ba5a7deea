// The value types of flags and config fields. Each type has a text for the command line, a decoded form, and the
// accepted values for error messages. Both ways yield the same decoded value (see value-types.ts), and fromText reads
// the output of toText.

import { nearestSafe } from "../../shared/kubernetes/api/wide-integers.js";
import { readCommaList, writeCommaList } from "./comma-list.js";
import { formatDuration, parseDuration } from "./duration.js";
import {
  isQuantity,
  moduleVerbosityFromJson,
  pairsToText,
  reservationFromJson,
  reservedMemoryFromText,
  reservedMemoryToText,
  shutdownPriorityFromJson,
  taintFromJson,
  taintsFromText,
  taintsToText,
  vmoduleFromText,
  vmoduleToText,
  whole,
} from "./object-values.js";
import type { Decoded, ValueType } from "./value-types.js";

export type { Decoded, ValueType };

/** Completes "… is not" and "… needs a value:". */
export const ACCEPTED: Readonly<Record<ValueType, string>> = {
  string: "text",
  bool: "true or false",
  int32: "a whole number from -2147483648 to 2147483647",
  int64: "a whole number of 64 bits",
  uint32: "a whole number from 0 to 4294967295",
  float64: "a number",
  duration: 'a duration such as "10s" or "1m30s" (units h, m, s, ms, us, ns)',
  durationOrNanos: 'a duration such as "5s", or a number of nanoseconds',
  quantity: 'a quantity such as "10Mi"',
  strings: "a list of strings",
  ints: "a list of whole numbers",
  stringMap: "a map of strings",
  boolMap: "a map of true or false",
  quantityMap: "a map of quantities",
  headerMap: "a map of header names to lists of values",
  taints: "a list of taints with key, value and effect",
  reservedMemory: "a list of objects with numaNode and limits",
  shutdownPriorities: "a list of objects with priority and shutdownGracePeriodSeconds",
  vmodule: "a list of objects with filePattern and verbosity",
};

/** What a value must be where it is written as text, for types that are written differently there. */
export const ACCEPTED_AS_TEXT: Readonly<Partial<Record<ValueType, string>>> = {
  durationOrNanos: ACCEPTED.duration,
  strings: "a list separated by commas (put an item with a comma in double quotes)",
  ints: "whole numbers separated by commas",
  stringMap: 'key=value pairs separated by commas, such as "cpu=100m,memory=1Gi"',
  boolMap: "name=true or name=false, separated by commas",
  quantityMap: 'name=quantity pairs separated by commas, such as "memory=1Gi"',
  headerMap: "name:value pairs separated by commas",
  taints: 'taints separated by commas, such as "key=value:NoSchedule" (or PreferNoSchedule, NoExecute)',
  reservedMemory: 'NUMA node and amounts, such as "0:memory=1Gi,hugepages-2Mi=64Mi;1:memory=1Gi"',
  vmodule: 'pattern=N pairs separated by commas, such as "sync*=4"',
};

const RANGES = {
  int32: [-(2n ** 31n), 2n ** 31n - 1n],
  int64: [-(2n ** 63n), 2n ** 63n - 1n],
  uint32: [0n, 2n ** 32n - 1n],
} as const;
/** Go's literals with automatic base: 10, 0x1f, 0o17, 017, 0b1, 1_000. */
const INTEGER = /^([+-]?)(0[xX](?:_?[0-9a-fA-F])+|0[bB](?:_?[01])+|0[oO]?(?:_?[0-7])+|0|[1-9](?:_?\d)*)$/;
const DECIMAL = /^[+-]?(\d+(?:\.\d*)?|\.\d+)([eE][+-]?\d+)?$/;
// The texts that Go's ParseBool accepts.
const TRUE = ["1", "t", "T", "true", "TRUE", "True"];
const FALSE = ["0", "f", "F", "false", "FALSE", "False"];

/** A flag's text as its type; undefined when it is not of that type. */
export function fromText(type: ValueType, text: string): unknown {
  switch (type) {
    case "string":
      return text;
    case "quantity":
      return isQuantity(text) ? text : undefined;
    case "bool":
      return TRUE.includes(text) ? true : FALSE.includes(text) ? false : undefined;
    case "int32":
    case "int64":
    case "uint32":
      return integer(type, text);
    case "float64":
      return DECIMAL.test(text) && Number.isFinite(Number(text)) ? Number(text) : undefined;
    case "duration":
    case "durationOrNanos":
      return parseDuration(text);
    case "strings":
      return readCommaList(text);
    case "ints":
      return text === "" ? [] : whole(text.split(",").map((item) => integer("int32", item)));
    case "headerMap":
      return headers(text);
    case "stringMap":
      return pairs(text, "=", (value) => value);
    case "boolMap":
      return pairs(text, "=", (value) => fromText("bool", value));
    case "quantityMap":
      return pairs(text, "=", (value) => fromText("quantity", value));
    case "taints":
      return taintsFromText(text);
    case "reservedMemory":
      return reservedMemoryFromText(text);
    case "vmodule":
      return vmoduleFromText(text);
    case "shutdownPriorities":
      return undefined; // no flag writes these
  }
}

/** A decoded value as the text that fromText reads back. */
export function toText<T extends ValueType>(type: T, value: Decoded[T]): string;
export function toText(type: ValueType, value: unknown): string {
  switch (type) {
    case "duration":
    case "durationOrNanos":
      return formatDuration(value as number);
    case "strings":
      return writeCommaList(value as string[]);
    case "ints":
      return (value as number[]).join(",");
    case "stringMap":
    case "boolMap":
    case "quantityMap":
      return pairsToText(value as Record<string, unknown>);
    case "headerMap":
      return Object.entries(value as Decoded["headerMap"])
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .flatMap(([name, values]) => values.map((item) => `${name}:${item}`))
        .join(",");
    case "taints":
      return taintsToText(value as Decoded["taints"]);
    case "reservedMemory":
      return reservedMemoryToText(value as Decoded["reservedMemory"]);
    case "vmodule":
      return vmoduleToText(value as Decoded["vmodule"]);
    case "shutdownPriorities":
      return JSON.stringify(value);
    case "string":
    case "bool":
    case "int32":
    case "int64":
    case "uint32":
    case "float64":
    case "quantity":
      return String(value);
  }
}

/** A value decoded from YAML or JSON as its type; undefined when it is not of that type. */
export function fromConfig(type: ValueType, value: unknown): unknown {
  switch (type) {
    case "string":
      return typeof value === "string" ? value : undefined;
    case "quantity":
      return (typeof value === "string" || typeof value === "number" || typeof value === "bigint") &&
        isQuantity(String(value))
        ? String(value)
        : undefined;
    case "bool":
      return typeof value === "boolean" ? value : undefined;
    case "int64":
      // Fields of 64 bits are limits: beyond 2^53 the nearest exact number serves as well.
      if (typeof value === "bigint" && inRange(type, value)) return nearestSafe(Number(value));
      return typeof value === "number" && Number.isInteger(value) && inRange(type, BigInt(value)) ? value : undefined;
    case "int32":
    case "uint32":
      return typeof value === "number" && Number.isInteger(value) && inRange(type, BigInt(value)) ? value : undefined;
    case "float64":
      return typeof value === "bigint" ? Number(value) : typeof value === "number" ? value : undefined;
    case "duration":
      return typeof value === "string" ? parseDuration(value) : undefined;
    case "durationOrNanos":
      return typeof value === "number" || typeof value === "bigint"
        ? Number(value) / 1e6
        : fromConfig("duration", value);
    case "strings":
      return listOf(value, (item) => fromConfig("string", item));
    case "ints":
      return listOf(value, (item) => fromConfig("int32", item));
    case "stringMap":
      return mapOf(value, (item) => fromConfig("string", item));
    case "boolMap":
      return mapOf(value, (item) => fromConfig("bool", item));
    case "quantityMap":
      return mapOf(value, (item) => fromConfig("quantity", item));
    case "headerMap":
      return mapOf(value, (item) => fromConfig("strings", item));
    case "taints":
      return listOf(value, taintFromJson);
    case "reservedMemory":
      return listOf(value, reservationFromJson);
    case "shutdownPriorities":
      return listOf(value, shutdownPriorityFromJson);
    case "vmodule":
      return listOf(value, moduleVerbosityFromJson);
  }
}

/** Two uses of a flag that may be repeated, together; for any other type the later one wins. */
export function accumulate(type: ValueType, before: unknown, after: unknown): unknown {
  switch (type) {
    case "strings":
    case "vmodule":
    case "reservedMemory":
      return [...(before as unknown[]), ...(after as unknown[])];
    case "stringMap":
    case "boolMap":
    case "quantityMap":
      return { ...(before as object), ...(after as object) };
    case "headerMap": {
      const all = new Map(Object.entries(before as Decoded["headerMap"]));
      for (const [name, values] of Object.entries(after as Decoded["headerMap"])) {
        all.set(name, [...(all.get(name) ?? []), ...values]);
      }
      return Object.fromEntries(all);
    }
    default:
      return after;
  }
}

/** "key=value,key=value", blanks around both cut off; empty parts count for nothing. */
export function pairs(
  text: string,
  separator: "=" | "<",
  read: (value: string) => unknown,
): Record<string, unknown> | undefined {
  const found = text
    .split(",")
    .filter((part) => part !== "")
    .map((part): [string, unknown] => {
      const at = part.indexOf(separator);
      const key = part.slice(0, Math.max(at, 0)).trim();
      return [key, key === "" ? undefined : read(part.slice(at + 1).trim())];
    });
  return found.some(([, value]) => value === undefined) ? undefined : Object.fromEntries(found);
}

function integer(type: keyof typeof RANGES, text: string): number | undefined {
  // Longer than any number of 64 bits in any base: BigInt need not parse it.
  const [, sign = "", body] = text.length > 140 ? [] : (INTEGER.exec(text) ?? []);
  if (body === undefined || (type === "uint32" && sign !== "")) return undefined;
  const plain = body.replaceAll("_", "").toLowerCase();
  const size = BigInt(/^0\d/.test(plain) ? `0o${plain.slice(1)}` : plain);
  const value = sign === "-" ? -size : size;
  return inRange(type, value) ? nearestSafe(Number(value)) : undefined;
}

function inRange(type: keyof typeof RANGES, value: bigint): boolean {
  const [low, high] = RANGES[type];
  return value >= low && value <= high;
}

function listOf(value: unknown, each: (item: unknown) => unknown): unknown[] | undefined {
  return Array.isArray(value) ? whole(value.map((item: unknown) => each(item))) : undefined;
}

function mapOf(value: unknown, each: (item: unknown) => unknown): Record<string, unknown> | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const map = Object.entries(value).map(([name, item]): [string, unknown] => [name, each(item)]);
  return map.some(([, item]) => item === undefined) ? undefined : Object.fromEntries(map);
}

/** "name:value,name:value"; a value may hold colons. */
function headers(text: string): Decoded["headerMap"] | undefined {
  const map = new Map<string, string[]>();
  for (const pair of text.split(",").filter((part) => part !== "")) {
    const colon = pair.indexOf(":");
    const name = pair.slice(0, Math.max(colon, 0)).trim();
    if (name === "") return undefined;
    map.set(name, [...(map.get(name) ?? []), pair.slice(colon + 1).trim()]);
  }
  return Object.fromEntries(map);
}
