// What a client sends, as a decoder of its kind reads it: null is a field that is not there, and the zero value for an
// item of a list or a map; fields that the kind does not have go; a value of another type is refused. The kubelet reads
// stored objects without checking them again.

import { bareBase64 } from "../../../shared/base/text/base64.js";
import { goTimeParts } from "../../../shared/base/text/go-time.js";
import { quote } from "../../../shared/base/text/quote.js";
import type { Field } from "../../../shared/kubernetes/api/protobuf/schema.js";
import { parseQuantity } from "../../../shared/kubernetes/api/quantity.js";
import { badRequest } from "./errors.js";
import { isFields, removeField, setField, withoutNulls, type ApiObject, type Fields } from "./object.js";
import { fieldsOf } from "./schema.js";

/** Characters of a value in a refusal. */
const SHOWN_CHARACTERS = 64;
/** Upstream's decoder takes microseconds with six digits, and no others. */
const MICRO_DIGITS = 6;
/** No table of fields has them. */
const TYPE_FIELDS: ReadonlySet<string> = new Set(["kind", "apiVersion"]);
/** Go types whose JSON is a text of some form. */
const WRITTEN_AS_TEXT = ["[]uint8", "Time", "MicroTime", "Quantity"];

interface Scalar {
  goType: string;
  /** In place of null in a list or a map. */
  zero?: unknown;
  holds: (value: unknown) => boolean;
}

const isText = (value: unknown): value is string => typeof value === "string";

const SCALARS: Readonly<Record<string, Scalar | undefined>> = {
  s: { goType: "string", zero: "", holds: isText },
  y: { goType: "[]uint8", zero: "", holds: (value) => isText(value) && bareBase64(value) !== undefined },
  b: { goType: "bool", zero: false, holds: (value) => typeof value === "boolean" },
  i: { goType: "int64", zero: 0, holds: (value) => typeof value === "bigint" || Number.isSafeInteger(value) },
  Time: { goType: "Time", holds: (value) => isTime(value) },
  MicroTime: { goType: "MicroTime", holds: (value) => isTime(value, MICRO_DIGITS) },
  Quantity: { goType: "Quantity", zero: "0", holds: isQuantity },
  IntOrString: { goType: "IntOrString", zero: 0, holds: (value) => isText(value) || Number.isInteger(value) },
};

/**
 * Changes the object. @returns paths of the fields that it lost because the kind does not have them
 * @throws ApiError for the first value of another type
 */
export function readFields(object: ApiObject): string[] {
  const reader = new FieldReader(object);
  reader.message(object, object.kind, "");
  return reader.unknown;
}

class FieldReader {
  readonly unknown: string[] = [];

  constructor(private readonly object: ApiObject) {}

  message(value: Fields, message: string, path: string): void {
    const fields = fieldsOf(message);
    if (fields.size === 0) {
      withoutNulls(value);
      return;
    }
    for (const [name, inner] of Object.entries(value)) {
      if (inner === undefined || (path === "" && TYPE_FIELDS.has(name))) continue;
      const field = fields.get(name);
      const at = path === "" ? name : `${path}.${name}`;
      if (inner === null) removeField(value, name);
      else if (field !== undefined) this.#field(inner, field, message, at);
      else {
        this.unknown.push(at);
        removeField(value, name);
      }
    }
  }

  #field(value: unknown, { type, kind }: Field, message: string, path: string): void {
    if (kind === "repeated") {
      if (!Array.isArray(value)) throw this.#mismatch(value, message, path, `[]${goType(type)}`);
      for (const [index, item] of value.entries()) {
        if (item === null) value[index] = zeroOf(type);
        else this.#value(item, type, message, `${path}[${index}]`);
      }
    } else if (kind === "map") {
      if (!isFields(value)) throw this.#mismatch(value, message, path, `map[string]${goType(type)}`);
      for (const [key, item] of Object.entries(value)) {
        if (item === null) setField(value, key, zeroOf(type));
        else this.#value(item, type, message, path);
      }
    } else this.#value(value, type, message, path);
  }

  #value(value: unknown, type: string, message: string, path: string): void {
    const scalar = SCALARS[type];
    if (scalar === undefined && isFields(value)) this.message(value, type, path);
    else if (scalar === undefined ? fieldsOf(type).size > 0 : !scalar.holds(value)) {
      throw this.#mismatch(value, message, path, goType(type));
    }
  }

  #mismatch(value: unknown, message: string, path: string, expected: string): Error {
    const { apiVersion, kind } = this.object;
    const version = apiVersion.split("/").at(-1) ?? "";
    // Go's decoder leaves out the indexes of lists.
    const fault = mismatch(value, `${message}.${path.replace(/\[\d+\]/g, "")}`, expected);
    return badRequest(`${kind} in version ${quote(version)} cannot be handled as a ${kind}: json: ${fault}`);
  }
}

function goType(type: string): string {
  return SCALARS[type]?.goType ?? type;
}

/** That of a message is an object without fields. */
function zeroOf(type: string): unknown {
  return SCALARS[type]?.zero ?? {};
}

function mismatch(value: unknown, field: string, expected: string): string {
  if (isText(value) && WRITTEN_AS_TEXT.includes(expected)) {
    // The bytes may be a secret, and refusals are logged.
    const shown = expected === "[]uint8" ? "a text" : quote(value.slice(0, SHOWN_CHARACTERS));
    return `${shown} in field ${field} is no ${expected}`;
  }
  return `cannot unmarshal ${jsonType(value)} into Go struct field ${field} of type ${expected}`;
}

function jsonType(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  const names: Readonly<Record<string, string>> = { boolean: "bool", bigint: "number" };
  return names[typeof value] ?? typeof value;
}

/** Those who read stored times use Date.parse. */
function isTime(value: unknown, digits?: number): boolean {
  const parts = isText(value) ? goTimeParts(value) : undefined;
  if (parts === undefined || (digits !== undefined && parts.fraction.length !== digits)) return false;
  return !Number.isNaN(Date.parse(String(value).replace(",", ".")));
}

function isQuantity(value: unknown): boolean {
  if (!isText(value)) return typeof value === "number" || typeof value === "bigint";
  try {
    parseQuantity(value);
    return true;
  } catch {
    return false;
  }
}
