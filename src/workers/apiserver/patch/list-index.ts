// Finds items of lists by their keys, in constant time: a patch names as many items as its list has.

import { jsonText } from "../objects/json.js";
import { isFields, type Fields } from "../objects/object.js";
import { SCALARS } from "./merge-keys.js";

/** Equal for equal scalars. */
export function keyText(value: unknown): string {
  return typeof value === "object" && value !== null ? jsonText(value) : `${typeof value} ${String(value)}`;
}

export function defaultKey(key: string): unknown {
  return key === "protocol" ? "TCP" : undefined;
}

/** Equal for items with equal keys. */
export function itemId(item: unknown, keys: readonly string[]): string {
  if (keys[0] === SCALARS) return keyText(item);
  return isFields(item) ? jsonText(keys.map((key) => item[key] ?? defaultKey(key))) : "";
}

/** The first place of each item. */
export function placesOf(list: readonly unknown[], idOf: (item: unknown) => string): Map<string, number> {
  const places = new Map<string, number>();
  for (const [at, item] of list.entries()) {
    const id = idOf(item);
    if (!places.has(id)) places.set(id, at);
  }
  return places;
}

/** Items by their names in FieldsV1. A list is read at its first use, and must not get further items. */
export class ListIndex {
  readonly #lists = new WeakMap<readonly unknown[], Map<string, Map<string, number>>>();

  /** @param part "k:" with an item's keys, or "v:" with an item. @returns -1 if there is none */
  indexOf(list: readonly unknown[], part: string): number {
    const named = namedBy(part);
    if (named === undefined) return -1;
    const { keys, id } = named;
    let byKeys = this.#lists.get(list);
    if (byKeys === undefined) this.#lists.set(list, (byKeys = new Map<string, Map<string, number>>()));
    const name = keys.join("\0");
    let places = byKeys.get(name);
    if (places === undefined) byKeys.set(name, (places = placesOf(list, (item) => itemId(item, keys))));
    return places.get(id) ?? -1;
  }
}

/** undefined: it is none that this server writes. */
function namedBy(part: string): { keys: readonly string[]; id: string } | undefined {
  let wanted: unknown;
  try {
    wanted = JSON.parse(part.slice(2));
  } catch {
    return undefined;
  }
  if (part.startsWith("v:")) return { keys: [SCALARS], id: keyText(wanted) };
  if (!part.startsWith("k:") || !isFields(wanted)) return undefined;
  const fields: Fields = wanted;
  return { keys: Object.keys(fields), id: JSON.stringify(Object.values(fields)) };
}
