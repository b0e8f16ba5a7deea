// The types of an object's fields, as a decoder of its kind has them: the kubelet reads stored objects without checking
// them again.

import { quote } from "../../../shared/base/text/quote.js";
import type { Field } from "../../../shared/kubernetes/api/protobuf/schema.js";
import { badRequest } from "./errors.js";
import { isFields, type ApiObject, type Fields } from "./object.js";
import { fieldsOf } from "./schema.js";

const isText = (value: unknown): boolean => typeof value === "string";

const TYPES: Readonly<Record<string, readonly [goType: string, holds: (value: unknown) => boolean]>> = {
  s: ["string", isText],
  y: ["[]uint8", isText],
  b: ["bool", (value) => typeof value === "boolean"],
  i: ["int64", (value) => typeof value === "bigint" || Number.isSafeInteger(value)],
  Time: ["Time", isText],
  MicroTime: ["MicroTime", isText],
  Quantity: ["Quantity", (value) => isText(value) || ["number", "bigint"].includes(typeof value)],
  IntOrString: ["IntOrString", (value) => isText(value) || Number.isInteger(value)],
};

/** Fields that the kind does not have are not looked at. @throws ApiError for the first value of another type */
export function checkTypes(object: ApiObject): void {
  const { apiVersion, kind, ...rest } = object;
  const fault = messageFault(rest, kind, "");
  if (fault === undefined) return;
  const version = apiVersion.split("/").at(-1) ?? "";
  throw badRequest(`${kind} in version ${quote(version)} cannot be handled as a ${kind}: json: ${fault}`);
}

function messageFault(value: Fields, message: string, path: string): string | undefined {
  const fields = fieldsOf(message);
  if (fields.size === 0) return undefined;
  for (const [name, inner] of Object.entries(value)) {
    const field = fields.get(name);
    if (field === undefined || inner === undefined) continue;
    const fault = fieldFault(inner, field, message, path === "" ? name : `${path}.${name}`);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function fieldFault(value: unknown, field: Field, message: string, path: string): string | undefined {
  const { type, kind } = field;
  if (kind === "repeated") {
    if (!Array.isArray(value)) return mismatch(value, message, path, `[]${goType(type)}`);
    return firstFault(value, type, message, path);
  }
  if (kind !== "map") return valueFault(value, type, message, path);
  if (!isFields(value)) return mismatch(value, message, path, `map[string]${goType(type)}`);
  return firstFault(Object.values(value), type, message, path);
}

function firstFault(values: readonly unknown[], type: string, message: string, path: string): string | undefined {
  for (const value of values) {
    const fault = valueFault(value, type, message, path);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function valueFault(value: unknown, type: string, message: string, path: string): string | undefined {
  const scalar = TYPES[type];
  if (scalar !== undefined) return scalar[1](value) ? undefined : mismatch(value, message, path, scalar[0]);
  if (fieldsOf(type).size === 0) return undefined;
  return isFields(value) ? messageFault(value, type, path) : mismatch(value, message, path, type);
}

function goType(type: string): string {
  return TYPES[type]?.[0] ?? type;
}

function mismatch(value: unknown, message: string, path: string, expected: string): string {
  const found =
    value === null
      ? "null"
      : Array.isArray(value)
        ? "array"
        : typeof value === "boolean"
          ? "bool"
          : typeof value === "bigint"
            ? "number"
            : typeof value;
  return `cannot unmarshal ${found} into Go struct field ${message}.${path} of type ${expected}`;
}
