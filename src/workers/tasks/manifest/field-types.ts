// The types by which pod-schema.ts describes the content of a manifest. Own walker instead of a validation library. A
// violation needs the field's path, the nearest known name and every fault at once. Unknown fields are warnings, not
// errors. valibot would add 5–7 ms to each pool thread's start, and its issues would still have to be translated.
import type { FormatRule } from "../../../shared/api/manifest/formats.js";

export type FieldType =
  | { kind: "string"; values?: readonly string[]; rules?: readonly FormatRule<string>[] }
  | { kind: "int"; min: number; max: number }
  | { kind: "bool" }
  | { kind: "quantity" }
  | { kind: "intOrString" }
  /** Kept as it came: nothing below it is read by the kubelet. */
  | { kind: "any" }
  | { kind: "list"; of: FieldType }
  | { kind: "map"; of: FieldType }
  | ObjectType;

export interface ObjectType {
  kind: "object";
  fields: Readonly<Record<string, FieldType>>;
  required: readonly string[];
  /** Known to the API but not kept (metadata.managedFields, status): dropped without a warning. */
  dropped: readonly string[];
}

const INT32_MAX = 2147483647;

export const bool: FieldType = { kind: "bool" };
export const any: FieldType = { kind: "any" };
export const quantity: FieldType = { kind: "quantity" };
export const intOrString: FieldType = { kind: "intOrString" };
export const str: FieldType = { kind: "string" };
export const int64: FieldType = { kind: "int", min: Number.MIN_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER };

export const text = (...rules: FormatRule<string>[]): FieldType => ({ kind: "string", rules });
export const oneOf = (...values: string[]): FieldType => ({ kind: "string", values });
export const int = (min: number, max: number = INT32_MAX): FieldType => ({ kind: "int", min, max });
export const list = (of: FieldType): FieldType => ({ kind: "list", of });
export const map = (of: FieldType): FieldType => ({ kind: "map", of });
export const object = (
  fields: Readonly<Record<string, FieldType>>,
  required: readonly string[] = [],
  dropped: readonly string[] = [],
): ObjectType => ({ kind: "object", fields, required, dropped });

/** The name of a type in a message. */
export function typeName(type: FieldType): string {
  switch (type.kind) {
    case "string":
      return "a string";
    case "int":
      return "an integer";
    case "bool":
      return "true or false";
    case "quantity":
      return 'a quantity such as "100m" or "128Mi"';
    case "intOrString":
      return "an integer or a name";
    case "any":
      return "any value";
    case "list":
      return "a list";
    case "map":
    case "object":
      return "a mapping";
  }
}
