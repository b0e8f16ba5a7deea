// RFC 7386: maps are merged, null removes, anything else replaces.

import { fieldOf, isFields, removeField, setField, type Fields } from "../objects/object.js";

export function applyMergePatch(target: unknown, patch: Fields): Fields {
  const merged: Fields = isFields(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) removeField(merged, key);
    else setField(merged, key, isFields(value) ? applyMergePatch(fieldOf(merged, key), value) : value);
  }
  return merged;
}
