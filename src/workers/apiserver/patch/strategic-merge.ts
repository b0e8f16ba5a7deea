// Strategic merge. It is like a merge patch, but lists with a merge key are merged item by item, and directives
// ($patch, $setElementOrder, $deleteFromPrimitiveList, $retainKeys) steer it.

import { ApiError } from "../objects/errors.js";
import { fieldOf, isFields, removeField, setField, type Fields } from "../objects/object.js";
import { keyText, placesOf } from "./list-index.js";
import { mergeKeyOf, SCALARS } from "./merge-keys.js";

const ORDER = "$setElementOrder/";
const DELETE_SCALARS = "$deleteFromPrimitiveList/";
const DIRECTIVE = "$patch";
const RETAIN = "$retainKeys";
/** In place of an item that a patch deletes. */
const GONE = Symbol("gone");
/** Characters of an item in an error. */
const MOST_SHOWN = 1000;

export function applyStrategicMerge(kind: string, target: Fields, patch: Fields): Fields {
  return mergeMap(kind, "", target, patch);
}

function mergeMap(kind: string, path: string, target: Fields, patch: Fields): Fields {
  const directive = patch[DIRECTIVE];
  if (directive === "replace") return cleaned({ ...patch });
  if (directive === "delete") return {};
  if (directive !== undefined)
    throw new ApiError(
      500,
      "",
      `unknown patch type: ${goText(directive)} in map: ${goText(patch).slice(0, MOST_SHOWN)}`,
    );
  const merged: Fields = { ...target };
  const retained = patch[RETAIN];
  if (Array.isArray(retained)) {
    const names = new Set<unknown>(retained);
    for (const key of Object.keys(merged)) if (!names.has(key)) removeField(merged, key);
  }
  for (const [key, value] of Object.entries(patch)) {
    if (key === DIRECTIVE || key === RETAIN || key.startsWith(ORDER)) continue;
    if (key.startsWith(DELETE_SCALARS)) {
      const field = key.slice(DELETE_SCALARS.length);
      const held = fieldOf(merged, field);
      if (!Array.isArray(held) || !Array.isArray(value)) continue;
      const gone = new Set<unknown>(value);
      merged[field] = held.filter((one) => !gone.has(one));
      continue;
    }
    const below = path === "" ? key : `${path}.${key}`;
    const held = fieldOf(merged, key);
    if (value === null) removeField(merged, key);
    else if (Array.isArray(value)) {
      setField(merged, key, mergeList(kind, below, held, value, patch[`${ORDER}${key}`]));
    } else setField(merged, key, isFields(value) ? mergeMap(kind, below, isFields(held) ? held : {}, value) : value);
  }
  orderOnly(kind, path, merged, patch);
  return merged;
}

/** An order for a list that the patch does not touch otherwise. */
function orderOnly(kind: string, path: string, merged: Fields, patch: Fields): void {
  for (const [key, order] of Object.entries(patch)) {
    if (!key.startsWith(ORDER)) continue;
    const field = key.slice(ORDER.length);
    const held = fieldOf(merged, field);
    if (fieldOf(patch, field) !== undefined || !Array.isArray(held)) continue;
    merged[field] = mergeList(kind, path === "" ? field : `${path}.${field}`, held, [], order);
  }
}

function mergeList(kind: string, path: string, target: unknown, patch: readonly unknown[], order: unknown): unknown[] {
  const key = mergeKeyOf(kind, path);
  const held: unknown[] = Array.isArray(target) ? target : [];
  if (key === undefined) return [...patch];
  if (key === SCALARS) {
    const known = new Set(held);
    const merged = [...held, ...patch.filter((one) => !known.has(one))];
    return ordered(merged, held, Array.isArray(order) ? order : undefined, keyText);
  }
  const keyOf = (item: unknown): unknown => (isFields(item) ? fieldOf(item, key) : undefined);
  const idOf = (item: unknown): string => keyText(keyOf(item));
  if (patch.some((item) => isFields(item) && item[DIRECTIVE] === "replace")) {
    return patch.filter((item) => isFields(item) && item[DIRECTIVE] === undefined);
  }
  const merged = mergeItems(kind, path, { held, patch, key, idOf });
  return ordered(merged, held, Array.isArray(order) ? order : undefined, idOf);
}

interface Items {
  held: readonly unknown[];
  patch: readonly unknown[];
  /** Field that tells the items apart. */
  key: string;
  idOf: (item: unknown) => string;
}

/** A patch merges the first item with its key, and deletes all. */
function mergeItems(kind: string, path: string, { held, patch, key, idOf }: Items): unknown[] {
  const merged: unknown[] = [...held];
  const places = placesOf(held, idOf);
  const deleted = new Set<string>();
  for (const item of patch) {
    if (!isFields(item) || fieldOf(item, key) === undefined) {
      const shown = goText(item).slice(0, MOST_SHOWN);
      throw new ApiError(500, "", `map: ${shown} does not contain declared merge key: ${key}`);
    }
    const id = idOf(item);
    const at = places.get(id);
    if (item[DIRECTIVE] === "delete") {
      deleted.add(id);
      if (at !== undefined) merged[at] = GONE;
      places.delete(id);
    } else if (at !== undefined) merged[at] = mergeMap(kind, path, merged[at] as Fields, item);
    else {
      places.set(id, merged.length);
      merged.push(mergeMap(kind, path, {}, item));
    }
  }
  // Items behind the first one with a deleted key are among those that were there.
  return merged.filter((item, at) => item !== GONE && !(at < held.length && deleted.has(idOf(item))));
}

/** Items named by `order` come in that order; the others keep their place among those that were there before. */
function ordered(
  merged: readonly unknown[],
  before: readonly unknown[],
  order: readonly unknown[] | undefined,
  idOf: (item: unknown) => string,
): unknown[] {
  if (order === undefined) return [...merged];
  const ranks = placesOf(order, idOf);
  const places = placesOf(before, idOf);
  const rank = (item: unknown): number => ranks.get(idOf(item)) ?? -1;
  const place = (item: unknown): number => places.get(idOf(item)) ?? -1;
  const named = merged.filter((item) => rank(item) >= 0).sort((one, other) => rank(one) - rank(other));
  const others = merged.filter((item) => rank(item) < 0);
  const result: unknown[] = [];
  let at = 0;
  for (const one of named) {
    while (at < others.length && place(one) >= 0 && place(others[at]) < place(one)) result.push(others[at++]);
    result.push(one);
  }
  return [...result, ...others.slice(at)];
}

/** As Go prints it. */
function goText(item: unknown): string {
  if (Array.isArray(item)) return `[${item.map(goText).join(" ")}]`;
  if (!isFields(item)) return String(item);
  const parts = Object.entries(item).map(([key, value]) => `${key}:${goText(value)}`);
  return `map[${parts.sort().join(" ")}]`;
}

function cleaned(map: Fields): Fields {
  removeField(map, DIRECTIVE);
  removeField(map, RETAIN);
  return map;
}
