// TOML of container runtimes' configurations, as plain values. The library is smol-toml (docs/adr/0102). Pure.

import { parse, TomlError } from "smol-toml";

export type Toml = string | number | boolean | Toml[] | TomlTable;
export interface TomlTable {
  [name: string]: Toml;
}

const DEPTH_LIMIT = 64;

/** Dates and integers beyond 2^53 are text. Throws an Error that does not quote the text, because it may be secret. */
export function readToml(text: string): TomlTable {
  try {
    return tableOf(parse(text, { integersAsBigInt: "asNeeded", maxDepth: DEPTH_LIMIT }));
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    throw new Error(`no valid TOML in line ${error.line}, column ${error.column}`);
  }
}

/** The value at a path of names; undefined: there is none. */
export function valueAt(table: TomlTable, ...path: readonly string[]): Toml | undefined {
  let value: Toml | undefined = table;
  for (const name of path) value = isTable(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  return value;
}

/** undefined: not set, or of another kind. */
export function textAt(table: TomlTable, ...path: readonly string[]): string | undefined {
  const value = valueAt(table, ...path);
  return typeof value === "string" ? value : undefined;
}

/** undefined: not set, or no list of texts. */
export function listAt(table: TomlTable, ...path: readonly string[]): string[] | undefined {
  const value = valueAt(table, ...path);
  if (!Array.isArray(value)) return undefined;
  const texts = value.filter((one) => typeof one === "string");
  return texts.length === value.length ? texts : undefined;
}

/** A drop-in over a configuration: its values win, and tables add up. */
export function over(below: TomlTable, above: TomlTable): TomlTable {
  const sum = newTable(Object.entries(below));
  for (const [name, value] of Object.entries(above)) {
    const before = Object.hasOwn(sum, name) ? sum[name] : undefined;
    sum[name] = isTable(before) && isTable(value) ? over(before, value) : value;
  }
  return sum;
}

function tableOf(value: object): TomlTable {
  return newTable(Object.entries(value).map(([name, member]): [string, Toml] => [name, plain(member)]));
}

function plain(value: unknown): Toml {
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return value;
  if (typeof value === "bigint") return String(value);
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map(plain);
  return tableOf(value as object);
}

function isTable(value: Toml | undefined): value is TomlTable {
  return typeof value === "object" && !Array.isArray(value);
}

/** Names are those of a file: none has a meaning for JavaScript. */
function newTable(entries: readonly (readonly [name: string, value: Toml])[]): TomlTable {
  const table = Object.create(null) as TomlTable;
  for (const [name, value] of entries) table[name] = value;
  return table;
}
