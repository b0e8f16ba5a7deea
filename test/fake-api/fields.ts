// Fields that the server fills.

import { isFields, type Fields } from "../../src/workers/apiserver/objects/object.js";

/** The map at a field, put there when there is none. */
export function ensureFields(from: Fields, field: string): Fields {
  const value = from[field];
  if (isFields(value)) return value;
  const made: Fields = {};
  from[field] = made;
  return made;
}

/** In place of nothing, null and an empty text. */
export function setDefault(target: Fields, field: string, value: unknown): void {
  if (target[field] === undefined || target[field] === null || target[field] === "") target[field] = value;
}
