// Strategic merge. It is like a merge patch, but lists with a merge key are merged item by item, and directives
// ($patch, $setElementOrder, $deleteFromPrimitiveList, $retainKeys) steer it.

import { ApiError } from "../objects/errors.js";
import { isFields, isSame, removeField, type Fields } from "../objects/object.js";
import { mergeKeyOf, SCALARS } from "./merge-keys.js";

const ORDER = "$setElementOrder/";
const DELETE_SCALARS = "$deleteFromPrimitiveList/";
const DIRECTIVE = "$patch";
const RETAIN = "$retainKeys";

export function applyStrategicMerge(kind: string, target: Fields, patch: Fields): Fields {
  return mergeMap(kind, "", target, patch);
}

function mergeMap(kind: string, path: string, target: Fields, patch: Fields): Fields {
  const directive = patch[DIRECTIVE];
  if (directive === "replace") return cleaned({ ...patch });
  if (directive === "delete") return {};
  if (directive !== undefined)
    throw new ApiError(500, "", `unknown patch type: ${goText(directive)} in map: ${goText(patch)}`);
  const merged: Fields = { ...target };
  const retained = patch[RETAIN];
  if (Array.isArray(retained)) {
    for (const key of Object.keys(merged)) if (!retained.includes(key)) removeField(merged, key);
  }
  for (const [key, value] of Object.entries(patch)) {
    if (key === DIRECTIVE || key === RETAIN || key.startsWith(ORDER)) continue;
    if (key.startsWith(DELETE_SCALARS)) {
      const field = key.slice(DELETE_SCALARS.length);
      const [held, gone] = [merged[field], value];
      if (Array.isArray(held) && Array.isArray(gone)) merged[field] = held.filter((one) => !gone.includes(one));
      continue;
    }
    const below = path === "" ? key : `${path}.${key}`;
    if (value === null) removeField(merged, key);
    else if (Array.isArray(value)) merged[key] = mergeList(kind, below, merged[key], value, patch[`${ORDER}${key}`]);
    else if (isFields(value)) merged[key] = mergeMap(kind, below, isFields(merged[key]) ? merged[key] : {}, value);
    else merged[key] = value;
  }
  orderOnly(kind, path, merged, patch);
  return merged;
}

/** An order for a list that the patch does not touch otherwise. */
function orderOnly(kind: string, path: string, merged: Fields, patch: Fields): void {
  for (const [key, order] of Object.entries(patch)) {
    if (!key.startsWith(ORDER)) continue;
    const field = key.slice(ORDER.length);
    const held = merged[field];
    if (patch[field] !== undefined || !Array.isArray(held)) continue;
    merged[field] = mergeList(kind, path === "" ? field : `${path}.${field}`, held, [], order);
  }
}

function mergeList(kind: string, path: string, target: unknown, patch: readonly unknown[], order: unknown): unknown[] {
  const key = mergeKeyOf(kind, path);
  const held: unknown[] = Array.isArray(target) ? target : [];
  if (key === undefined) return [...patch];
  if (key === SCALARS) {
    const merged = [...held, ...patch.filter((one) => !held.includes(one))];
    return ordered(merged, held, Array.isArray(order) ? order : undefined, (item) => item);
  }
  const keyOf = (item: unknown): unknown => (isFields(item) ? item[key] : undefined);
  if (patch.some((item) => isFields(item) && item[DIRECTIVE] === "replace")) {
    return patch.filter((item) => isFields(item) && item[DIRECTIVE] === undefined);
  }
  let merged = [...held];
  for (const item of patch) {
    if (!isFields(item) || item[key] === undefined) {
      throw new ApiError(500, "", `map: ${goText(item)} does not contain declared merge key: ${key}`);
    }
    const at = merged.findIndex((one) => isSame(keyOf(one), item[key]));
    if (item[DIRECTIVE] === "delete") merged = merged.filter((one) => !isSame(keyOf(one), item[key]));
    else if (at >= 0) merged[at] = mergeMap(kind, path, merged[at] as Fields, item);
    else merged.push(mergeMap(kind, path, {}, item));
  }
  return ordered(merged, held, Array.isArray(order) ? order.map(keyOf) : undefined, keyOf);
}

/** Items named by `order` come in that order; the others keep their place among those that were there before. */
function ordered(
  merged: readonly unknown[],
  before: readonly unknown[],
  order: readonly unknown[] | undefined,
  keyOf: (item: unknown) => unknown,
): unknown[] {
  if (order === undefined) return [...merged];
  const rank = (item: unknown): number => order.findIndex((one) => isSame(one, keyOf(item)));
  const place = (item: unknown): number => before.findIndex((one) => isSame(keyOf(one), keyOf(item)));
  const named = merged.filter((item) => rank(item) >= 0).sort((one, other) => rank(one) - rank(other));
  const others = merged.filter((item) => rank(item) < 0);
  const result: unknown[] = [];
  while (named.length > 0 && others.length > 0) {
    const isOtherFirst = place(named[0]) >= 0 && place(others[0]) < place(named[0]);
    result.push(isOtherFirst ? others.shift() : named.shift());
  }
  return [...result, ...named, ...others];
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
