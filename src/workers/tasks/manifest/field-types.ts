// The types by which pod-schema.ts describes the content of a manifest. Own walker instead of a validation library. A
// violation needs the field's path, the nearest known name and every fault at once. Unknown fields are warnings, not
// errors. valibot would add 5–7 ms to each pool thread's start, and its issues would still have to be translated.

import type { FormatRule } from "../../../shared/kubernetes/api/manifest/formats.js";

export type FieldType =
  | {
      kind: "string";
      values?: readonly string[];
      rules?: readonly FormatRule<string>[];
      /** The empty string is a value: in Go the field is a pointer, or is always written. Otherwise it means absent. */
      keepsEmpty?: true;
    }
  /** `wide`: 64 bits. `isPlain`: no pointer in Go, so that 0 means absent. */
  | { kind: "int"; min: number; max: number; wide?: true; isPlain?: true }
  /** `isPlain`: no pointer in Go, so that false means absent. */
  | { kind: "bool"; isPlain?: true }
  /** `roundsToMilli`: an amount of a resource. */
  | { kind: "quantity"; roundsToMilli?: true }
  | { kind: "intOrString" }
  /** RFC 3339; kept in UTC and whole seconds, as the API writes it. */
  | { kind: "time" }
  /** Kept as it came: nothing below it is read by the kubelet. */
  | { kind: "any" }
  /** A field that a later Kubernetes has: kept if it fits, and otherwise ignored, as an unknown field. */
  | { kind: "later"; of: FieldType; version: string }
  | { kind: "list"; of: FieldType }
  | { kind: "map"; of: FieldType }
  | ObjectType;

export interface ObjectType {
  kind: "object";
  fields: ReadonlyMap<string, FieldType>;
  required: readonly string[];
  /** Known to the API but not kept (metadata.managedFields, status): dropped without a warning. */
  dropped: readonly string[];
  /** Fields that Go always writes, with their zero values. */
  zeros: Readonly<Record<string, string | number | Readonly<Record<string, never>>>>;
  /** Releases up to 0.1.0 kept the object as it came: for the UID of their static pods (written-form.ts). */
  keptWhole?: true | undefined;
}

export type AnyType = Extract<FieldType, { kind: "any" }>;
export type IntType = Extract<FieldType, { kind: "int" }>;
export type StringType = Extract<FieldType, { kind: "string" }>;

const INT32_MAX = 2147483647;

export const bool: FieldType = { kind: "bool" };
export const any: AnyType = { kind: "any" };
export const quantity: FieldType = { kind: "quantity" };
export const amount: FieldType = { kind: "quantity", roundsToMilli: true };
export const intOrString: FieldType = { kind: "intOrString" };
export const str: StringType = { kind: "string" };
export const time: FieldType = { kind: "time" };

export const text = (...rules: FormatRule<string>[]): StringType => ({ kind: "string", rules });
export const oneOf = (...values: string[]): StringType => ({ kind: "string", values });
export const int = (min: number, max: number = INT32_MAX): IntType => ({ kind: "int", min, max });
/** An integer of 64 bits, `min` or more. */
export const int64 = (min: number = -Infinity): IntType => ({ kind: "int", min, max: Infinity, wide: true });
/** A field of a later Kubernetes on which this kubelet does not act. */
export const later = (of: FieldType, version: string): FieldType => ({ kind: "later", of, version });
export const list = (of: FieldType): FieldType => ({ kind: "list", of });
export const map = (of: FieldType): FieldType => ({ kind: "map", of });
export const object = (
  fields: ReadonlyMap<string, FieldType>,
  required: readonly string[] = [],
  dropped: readonly string[] = [],
  zeros: ObjectType["zeros"] = {},
): ObjectType => ({ kind: "object", fields, required, dropped, zeros });

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
    case "time":
      return "a time such as 2026-01-02T15:04:05Z";
    case "any":
      return "any value";
    case "later":
      return typeName(type.of);
    case "list":
      return "a list";
    case "map":
    case "object":
      return "a mapping";
  }
}
