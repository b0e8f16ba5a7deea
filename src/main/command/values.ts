// The value types of flags and config fields: how each is written on a command line, how it looks once decoded from YAML,
// and how an error names what is accepted. Both ways yield the same decoded value: durations are milliseconds.
import { parseDuration } from "./duration.js";
import type { FieldType } from "./config-fields.js";

export interface Decoded {
  string: string;
  bool: boolean;
  int32: number;
  int64: number;
  uint32: number;
  float64: number;
  /** Milliseconds. */
  duration: number;
  durationOrNanos: number;
  quantity: string;
  strings: string[];
  ints: number[];
  stringMap: Record<string, string>;
  boolMap: Record<string, boolean>;
  quantityMap: Record<string, string>;
  headerMap: Record<string, string[]>;
}

export const ACCEPTED: Readonly<Record<FieldType, string>> = {
  string: "text",
  bool: "true or false",
  int32: "a whole number from -2147483648 to 2147483647",
  int64: "a whole number",
  uint32: "a whole number from 0 to 4294967295",
  float64: "a number",
  duration: 'a duration such as "10s" or "1m30s" (units h, m, s, ms, us, ns)',
  durationOrNanos: 'a duration such as "5s", or a number of nanoseconds',
  quantity: 'a quantity such as "10Mi"',
  strings: "a list of texts",
  ints: "a list of whole numbers",
  stringMap: "a map of texts",
  boolMap: "a map of true and false",
  quantityMap: "a map of quantities",
  headerMap: "a map of header names to lists of values",
};

const RANGES: Partial<Record<FieldType, readonly [number, number]>> = {
  int32: [-2147483648, 2147483647],
  int64: [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
  uint32: [0, 4294967295],
};
const QUANTITY = /^[+-]?(\d+\.?\d*|\.\d+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?\d+)?$/;
// strconv.ParseBool's words.
const BOOLS: Record<string, boolean> = {
  ...Object.fromEntries(["1", "t", "T", "true", "TRUE", "True"].map((word) => [word, true])),
  ...Object.fromEntries(["0", "f", "F", "false", "FALSE", "False"].map((word) => [word, false])),
};

/** A flag's text as its type; undefined when it is not of that type. */
export function fromText(type: FieldType, text: string): unknown {
  switch (type) {
    case "string":
      return text;
    case "quantity":
      return QUANTITY.test(text) ? text : undefined;
    case "bool":
      return Object.hasOwn(BOOLS, text) ? BOOLS[text] : undefined;
    case "int32":
    case "int64":
    case "uint32":
      return /^[+-]?\d+$/.test(text) ? inRange(type, Number(text)) : undefined;
    case "float64":
      return text.trim() !== "" && Number.isFinite(Number(text)) ? Number(text) : undefined;
    case "duration":
    case "durationOrNanos":
      return parseDuration(text);
    case "strings":
      return text === "" ? [] : text.split(",");
    case "ints":
      return listOf(text.split(","), (item) => fromText("int32", item));
    case "headerMap":
      return headers(text);
    case "stringMap":
    case "boolMap":
    case "quantityMap":
      return pairs(type, text);
  }
}

/** A value decoded from YAML or JSON as its type; undefined when it is not of that type. */
export function fromConfig(type: FieldType, value: unknown): unknown {
  switch (type) {
    case "string":
      return typeof value === "string" ? value : undefined;
    case "quantity":
      return typeof value === "string" || typeof value === "number" ? fromText(type, String(value)) : undefined;
    case "bool":
      return typeof value === "boolean" ? value : undefined;
    case "int32":
    case "int64":
    case "uint32":
      return typeof value === "number" && Number.isInteger(value) ? inRange(type, value) : undefined;
    case "float64":
      return typeof value === "number" ? value : undefined;
    case "duration":
      return typeof value === "string" ? parseDuration(value) : undefined;
    case "durationOrNanos":
      return typeof value === "number" ? value / 1e6 : fromConfig("duration", value);
    case "strings":
      return Array.isArray(value) ? listOf(value, (item) => fromConfig("string", item)) : undefined;
    case "ints":
      return Array.isArray(value) ? listOf(value, (item) => fromConfig("int32", item)) : undefined;
    case "stringMap":
      return mapOf(value, (item) => fromConfig("string", item));
    case "boolMap":
      return mapOf(value, (item) => fromConfig("bool", item));
    case "quantityMap":
      return mapOf(value, (item) => fromConfig("quantity", item));
    case "headerMap":
      return mapOf(value, (item) => fromConfig("strings", item));
  }
}

/** Two uses of a flag that may be repeated, together; for any other type the later one wins. */
export function accumulate(type: FieldType, before: unknown, after: unknown): unknown {
  if (type === "strings") return [...(before as string[]), ...(after as string[])];
  if (type === "stringMap") return { ...(before as object), ...(after as object) };
  if (type !== "headerMap") return after;
  const all = { ...(before as Decoded["headerMap"]) };
  for (const [name, values] of Object.entries(after as Decoded["headerMap"])) {
    all[name] = [...(all[name] ?? []), ...values];
  }
  return all;
}

function inRange(type: FieldType, value: number): number | undefined {
  const range = RANGES[type];
  return range === undefined || (value >= range[0] && value <= range[1]) ? value : undefined;
}

function listOf(values: readonly unknown[], each: (value: never) => unknown): unknown[] | undefined {
  const list = values.map((value) => each(value as never));
  return list.includes(undefined) ? undefined : list;
}

function mapOf(value: unknown, each: (value: unknown) => unknown): Record<string, unknown> | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const map = Object.entries(value).map(([name, item]): [string, unknown] => [name, each(item)]);
  return map.some(([, item]) => item === undefined) ? undefined : Object.fromEntries(map);
}

/** "name:value,name:value"; a value may hold colons. */
function headers(text: string): Decoded["headerMap"] | undefined {
  const map: Decoded["headerMap"] = {};
  for (const pair of text.split(",")) {
    const colon = pair.indexOf(":");
    if (colon < 1) return undefined;
    const name = pair.slice(0, colon);
    (map[name] ??= []).push(pair.slice(colon + 1));
  }
  return map;
}

function pairs(type: "stringMap" | "boolMap" | "quantityMap", text: string): Record<string, unknown> | undefined {
  const item = { stringMap: "string", boolMap: "bool", quantityMap: "quantity" } as const;
  const map: Record<string, unknown> = {};
  for (const pair of text.split(",").filter((part) => part !== "")) {
    const equals = pair.indexOf("=");
    const value = equals < 1 ? undefined : fromText(item[type], pair.slice(equals + 1));
    if (value === undefined) return undefined;
    map[pair.slice(0, equals)] = value;
  }
  return map;
}
