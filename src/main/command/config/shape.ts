// The shape of a KubeletConfiguration: the table of fields as nested objects, with the members of listed objects. The
// reader validates by it, the decoder follows it, and the JSON Schema is made from it.

import { FIELDS, type Field, type FieldPath } from "../fields/fields.js";
import type { ValueType } from "../value-types.js";

/** Value types that are one scalar. */
export type ScalarType = Extract<
  ValueType,
  "string" | "bool" | "int32" | "int64" | "uint32" | "float64" | "duration" | "durationOrNanos" | "quantity"
>;

export type Shape =
  | { readonly kind: "scalar"; readonly type: ScalarType }
  | { readonly kind: "list"; readonly of: Shape }
  | { readonly kind: "map"; readonly of: Shape }
  | { readonly kind: "object"; readonly members: ReadonlyMap<string, Member> };

export interface Member {
  readonly shape: Shape;
  /** The field, where the member is one and not an object of fields or a part of a listed object. */
  readonly field?: Field;
  /** A listed object's member that is left out when absent; others have Go's zero value then. */
  readonly optional?: true;
}

const scalar = (type: ScalarType): Shape => ({ kind: "scalar", type });
const list = (of: Shape): Shape => ({ kind: "list", of });
const map = (of: Shape): Shape => ({ kind: "map", of });
const object = (members: Record<string, Shape>, optional: Record<string, Shape> = {}): Shape => ({
  kind: "object",
  members: new Map<string, Member>([
    ...Object.entries(members).map(([name, shape]): [string, Member] => [name, { shape }]),
    ...Object.entries(optional).map(([name, shape]): [string, Member] => [name, { shape, optional: true }]),
  ]),
});

const string = scalar("string");

function shapeOf(type: ValueType): Shape {
  switch (type) {
    case "strings":
      return list(string);
    case "ints":
      return list(scalar("int32"));
    case "stringMap":
      return map(string);
    case "boolMap":
      return map(scalar("bool"));
    case "quantityMap":
      return map(scalar("quantity"));
    case "headerMap":
      return map(list(string));
    case "taints":
      return list(object({ key: string, value: string, effect: string }, { timeAdded: string }));
    case "reservedMemory":
      return list(object({ numaNode: scalar("int32"), limits: map(scalar("quantity")) }));
    case "shutdownPriorities":
      return list(object({ priority: scalar("int32"), shutdownGracePeriodSeconds: scalar("int64") }));
    case "vmodule":
      return list(object({ filePattern: string, verbosity: scalar("uint32") }));
    default:
      return scalar(type);
  }
}

export const FIELD_ROWS = Object.entries(FIELDS) as [FieldPath, Field][];

export function isFieldPath(path: string): path is FieldPath {
  return Object.hasOwn(FIELDS, path);
}

export const FIELD_SHAPES = new Map(FIELD_ROWS.map(([path, field]) => [path, shapeOf(field.type)]));

/** The whole configuration but for its apiVersion and kind. */
export const CONFIG_MEMBERS: ReadonlyMap<string, Member> = membersOf();

function membersOf(): Map<string, Member> {
  const root = new Map<string, Member>();
  for (const [path, field] of FIELD_ROWS) {
    const names = path.split(".");
    const last = names.pop() ?? path;
    let members = root;
    for (const name of names) {
      const shape = members.get(name)?.shape;
      const nested = shape?.kind === "object" ? (shape.members as Map<string, Member>) : new Map<string, Member>();
      if (shape === undefined) members.set(name, { shape: { kind: "object", members: nested } });
      members = nested;
    }
    members.set(last, { shape: shapeOf(field.type), field });
  }
  return root;
}
