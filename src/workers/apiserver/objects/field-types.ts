// The types of an object's fields, as a decoder of its kind has them: the kubelet reads stored objects without checking
// them again.

import { quote } from "../../../shared/base/text/quote.js";
import type { Field } from "../../../shared/kubernetes/api/protobuf/schema.js";
import { parseQuantity } from "../../../shared/kubernetes/api/quantity.js";
import { badRequest } from "./errors.js";
import { isFields, type ApiObject, type Fields } from "./object.js";
import { fieldsOf } from "./schema.js";

/** Characters of a value in a refusal. */
const SHOWN_CHARACTERS = 64;

const isText = (value: unknown): boolean => typeof value === "string";

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:\d\d)$/;
/** Upstream's decoder takes microseconds with six digits, and no others. */
const MICRO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[.,]\d{6}(?:Z|[+-]\d\d:\d\d)$/;

function isTime(value: unknown, form: RegExp): boolean {
  return typeof value === "string" && form.test(value) && !Number.isNaN(Date.parse(value.replace(",", ".")));
}

/** As Go's decoder has it: padded, and line breaks anywhere. */
function isBase64(value: string): boolean {
  const text = value.replace(/[\r\n]/g, "");
  return text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text);
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
  y: ["[]uint8", (value) => typeof value === "string" && isBase64(value)],
  b: ["bool", (value) => typeof value === "boolean"],
  i: ["int64", (value) => typeof value === "bigint" || Number.isSafeInteger(value)],
  Time: ["Time", (value) => isTime(value, TIME)],
  MicroTime: ["MicroTime", (value) => isTime(value, MICRO_TIME)],
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
  const goTypes = ["[]uint8", "Time", "MicroTime", "Quantity"];
  if (typeof value === "string" && goTypes.includes(expected))
    return `${quote(value.slice(0, SHOWN_CHARACTERS))} in field ${message}.${path} is no ${expected}`;
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
