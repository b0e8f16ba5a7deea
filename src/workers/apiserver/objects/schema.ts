// The fields of each kind of object, as JSON has them: from the tables that encode objects.

import { CLUSTER_MESSAGES } from "../../../shared/kubernetes/api/protobuf/gen/cluster-messages.js";
import { MESSAGES } from "../../../shared/kubernetes/api/protobuf/gen/messages.js";
import { Schema, type Field } from "../../../shared/kubernetes/api/protobuf/schema.js";

const SCHEMA = new Schema({ ...MESSAGES, ...CLUSTER_MESSAGES });
/** Messages whose JSON is a text, a number, a list or anything. */
const OTHER_FORM = new Set(["FieldsV1", "Time", "MicroTime", "IntOrString", "Quantity", "RawExtension", "ExtraValue"]);
const known = new Map<string, ReadonlyMap<string, Field>>();

/** By name; none for a message that no table has, or that JSON has in another form. */
export function fieldsOf(message: string): ReadonlyMap<string, Field> {
  let fields = known.get(message);
  if (fields === undefined) {
    fields = new Map(OTHER_FORM.has(message) ? [] : flat(message));
    known.set(message, fields);
  }
  return fields;
}

/** The fields of an embedded message stand beside the others. */
function flat(message: string): [string, Field][] {
  return SCHEMA.fields(message).flatMap((field) =>
    field.kind === "inline" ? flat(field.type) : [[field.name, field] as [string, Field]],
  );
}
