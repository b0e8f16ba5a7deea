// The types of an object's fields, as a decoder of its kind has them: the kubelet reads stored objects without checking
// them again.

import { bareBase64 } from "../../../shared/base/text/base64.js";
import { goTimeParts } from "../../../shared/base/text/go-time.js";
import { quote } from "../../../shared/base/text/quote.js";
import type { Field } from "../../../shared/kubernetes/api/protobuf/schema.js";
import { parseQuantity } from "../../../shared/kubernetes/api/quantity.js";
import { badRequest } from "./errors.js";
import { isFields, type ApiObject, type Fields } from "./object.js";
import { fieldsOf } from "./schema.js";

/** Characters of a value in a refusal. */
const SHOWN_CHARACTERS = 64;

/** Go types whose JSON is a text of some form. */
const WRITTEN_AS_TEXT = ["[]uint8", "Time", "MicroTime", "Quantity"];

const isText = (value: unknown): boolean => typeof value === "string";

/** Upstream's decoder takes microseconds with six digits, and no others. */
const MICRO_DIGITS = 6;

/** Those who read stored times use Date.parse. */
function isTime(value: unknown, digits?: number): boolean {
  const parts = typeof value === "string" ? goTimeParts(value) : undefined;
  if (parts === undefined || (digits !== undefined && parts.fraction.length !== digits)) return false;
  return !Number.isNaN(Date.parse(String(value).replace(",", ".")));
}

function isQuantity(value: unknown): boolean {
  if (typeof value === "number" || typeof value === "bigint") return true;
  if (typeof value !== "string") return false;
  try {
    parseQuantity(value);
    return true;
  } catch {
    return false;
  }
}

const TYPES: Readonly<Record<string, readonly [goType: string, holds: (value: unknown) => boolean]>> = {
  s: ["string", isText],
  y: ["[]uint8", (value) => typeof value === "string" && bareBase64(value) !== undefined],
  b: ["bool", (value) => typeof value === "boolean"],
  i: ["int64", (value) => typeof value === "bigint" || Number.isSafeInteger(value)],
  Time: ["Time", (value) => isTime(value)],
  MicroTime: ["MicroTime", (value) => isTime(value, MICRO_DIGITS)],
  Quantity: ["Quantity", isQuantity],
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
  if (typeof value === "string" && WRITTEN_AS_TEXT.includes(expected)) {
    // The bytes may be a secret, and refusals are logged.
    const shown = expected === "[]uint8" ? "a text" : quote(value.slice(0, SHOWN_CHARACTERS));
    return `${shown} in field ${message}.${path} is no ${expected}`;
  }
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
