// The value of a YAML document, with places in the text. Aliases and merge keys are resolved, keys are strings, and
// each is there once.

/** A bigint is an integer that a number cannot hold exactly. */
export type ScalarValue = string | number | bigint | boolean | null;

export interface YamlScalar {
  kind: "scalar";
  offset: number;
  value: ScalarValue;
  /** The text without quotes and folding. */
  text: string;
}

export interface YamlList {
  kind: "list";
  offset: number;
  items: YamlValue[];
  /** All items as plain values. */
  value: unknown[];
}

export interface YamlMap {
  kind: "map";
  offset: number;
  members: Map<string, YamlMember>;
  /** All members as plain values. */
  value: Record<string, unknown>;
}

export interface YamlMember {
  value: YamlValue;
  /** Where the key is. */
  offset: number;
}

export type YamlValue = YamlScalar | YamlList | YamlMap;

/** A key that was given again: the last one counts. */
export interface RepeatedKey {
  map: YamlMap;
  name: string;
  offset: number;
}

export function emptyList(offset: number): YamlList {
  return { kind: "list", offset, items: [], value: [] };
}

export function addItem(list: YamlList, item: YamlValue): void {
  list.items.push(item);
  list.value.push(item.value);
}

export function emptyMap(offset: number): YamlMap {
  return { kind: "map", offset, members: new Map(), value: {} };
}

/** Replaces a member of the same name. */
export function addMember(map: YamlMap, name: string, member: YamlMember): void {
  map.members.set(name, member);
  const { value } = member.value;
  if (name !== "__proto__") map.value[name] = value;
  else Object.defineProperty(map.value, name, { value, enumerable: true, configurable: true, writable: true });
}

/** The place of the value at a path, or of the nearest one above it; `atKey`: the place of its key. */
export function offsetAt(root: YamlValue, path: readonly (string | number)[], atKey = false): number {
  let value = root;
  let { offset } = root;
  for (const [depth, step] of path.entries()) {
    if (value.kind === "scalar") break;
    const member = value.kind === "map" ? value.members.get(String(step)) : undefined;
    const next = value.kind === "map" ? member?.value : typeof step === "number" ? value.items[step] : undefined;
    if (next === undefined) break;
    const isLast = depth === path.length - 1;
    offset = member !== undefined && isLast && atKey ? member.offset : next.offset;
    value = next;
  }
  return offset;
}
