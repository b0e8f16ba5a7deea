// The fields of each kind of object, as JSON has them: from the tables that encode objects.

import { Decoder } from "../../../shared/kubernetes/api/protobuf/decode.js";
import { CLUSTER_MESSAGES } from "../../../shared/kubernetes/api/protobuf/gen/cluster-messages.js";
import { MESSAGES } from "../../../shared/kubernetes/api/protobuf/gen/messages.js";
import { openEnvelope } from "../../../shared/kubernetes/api/protobuf/objects.js";
import { Schema, type Field } from "../../../shared/kubernetes/api/protobuf/schema.js";
import { takeDigits } from "../../../shared/kubernetes/api/wide-integers.js";
import { setDigits } from "./json.js";
import type { Fields } from "./object.js";

/** Messages that a node of a cluster neither reads nor writes: only clients of this server send them. */
const OWN_MESSAGES: Readonly<Record<string, string>> = {
  Namespace: "1 metadata ObjectMeta, 2 spec NamespaceSpec, 3 status NamespaceStatus",
  NamespaceSpec: "1 finalizers *s",
  NamespaceStatus: "1 phase s?, 2 conditions *Condition",
  Eviction: "1 metadata ObjectMeta, 2 deleteOptions DeleteOptions",
  SelfSubjectReview: "1 metadata ObjectMeta",
  SelfSubjectAccessReview: "1 metadata ObjectMeta, 2 spec SubjectOfAccess, 3 status SubjectAccessReviewStatus",
  SelfSubjectRulesReview: "1 metadata ObjectMeta, 2 spec NamespaceOfRules",
  NamespaceOfRules: "1 namespace s?",
  SubjectOfAccess: "1 resourceAttributes ResourceAttributes, 2 nonResourceAttributes NonResourceAttributes",
};
const SCHEMA = new Schema({ ...MESSAGES, ...CLUSTER_MESSAGES, ...OWN_MESSAGES });
const DECODER = new Decoder(SCHEMA);
/** Messages whose JSON is a text, a number, a list or anything. */
const OTHER_FORM = new Set(["FieldsV1", "Time", "MicroTime", "IntOrString", "Quantity", "RawExtension", "ExtraValue"]);
/** An object of protobuf, with its envelope; wide integers are bigints (json.ts). @throws ProtobufDecodeError */
export function fromProtobuf(bytes: Buffer): Fields {
  const { type, object } = openEnvelope(bytes);
  const { apiVersion, kind } = type;
  if (SCHEMA.fields(kind).length === 0) throw new Error(`${kind} is served as JSON only`);
  const fields = DECODER.into({ kind, apiVersion }, kind, object);
  setDigits(fields, takeDigits(fields));
  return fields;
}

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
