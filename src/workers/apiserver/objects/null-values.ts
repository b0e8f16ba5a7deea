// What Go's decoder makes of null: a field that is not there, and the zero value for an item of a list or a map.

import type { Field } from "../../../shared/kubernetes/api/protobuf/schema.js";
import { isFields, removeField, setField, withoutNulls, type ApiObject, type Fields } from "./object.js";
import { fieldsOf } from "./schema.js";

/** By the type of the items. A message has no row: its zero value is an object without fields. */
const ZERO: Readonly<Record<string, unknown>> = { s: "", y: "", b: false, i: 0, Quantity: "0", IntOrString: 0 };

/** Changes the object that it is given. Fields that the kind does not have lose their nulls. */
export function readNulls<T extends ApiObject>(object: T): T {
  readMessage(object, object.kind);
  return object;
}

function readMessage(value: Fields, message: string): void {
  const fields = fieldsOf(message);
  for (const [name, inner] of Object.entries(value)) {
    const field = fields.get(name);
    if (inner === null) removeField(value, name);
    else if (field === undefined) withoutNulls(inner);
    else readField(inner, field);
  }
}

function readField(value: unknown, { kind, type }: Field): void {
  if (kind === "repeated" && Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      if (item === null) value[index] = zeroOf(type);
      else readValue(item, type);
    }
  } else if (kind === "map" && isFields(value)) {
    for (const [key, item] of Object.entries(value)) {
      if (item === null) setField(value, key, zeroOf(type));
      else readValue(item, type);
    }
  } else readValue(value, type);
}

function readValue(value: unknown, type: string): void {
  if (isFields(value)) readMessage(value, type);
}

function zeroOf(type: string): unknown {
  return ZERO[type] ?? {};
}
