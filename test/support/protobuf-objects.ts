// Arbitrary objects of each kind, made from the table of messages, as an API server sends them in JSON.

import fc from "fast-check";
import { CLUSTER_MESSAGES } from "../../src/shared/kubernetes/api/protobuf/gen/cluster-messages.js";
import { MESSAGES } from "../../src/shared/kubernetes/api/protobuf/gen/messages.js";
import { Schema, type Field } from "../../src/shared/kubernetes/api/protobuf/schema.js";

const SCHEMA = new Schema({ ...MESSAGES, ...CLUSTER_MESSAGES });

/** Roots of the encoding, by apiVersion and kind. */
export const KINDS: readonly (readonly [string, string, string])[] = [
  ...["Pod", "Node", "ConfigMap", "Secret", "Service", "ServiceAccount", "Event"].map(
    (kind) => ["v1", kind, kind] as const,
  ),
  ...["PersistentVolume", "PersistentVolumeClaim", "Status", "DeleteOptions"].map(
    (kind) => ["v1", kind, kind] as const,
  ),
  ["coordination.k8s.io/v1", "Lease", "Lease"],
  ["node.k8s.io/v1", "RuntimeClass", "RuntimeClass"],
  ["storage.k8s.io/v1", "CSINode", "CSINode"],
  ["storage.k8s.io/v1", "CSIDriver", "CSIDriver"],
  ["storage.k8s.io/v1", "VolumeAttachment", "VolumeAttachment"],
  ["certificates.k8s.io/v1", "CertificateSigningRequest", "CertificateSigningRequest"],
  ["certificates.k8s.io/v1", "ClusterTrustBundle", "ClusterTrustBundle"],
  ["certificates.k8s.io/v1", "PodCertificateRequest", "PodCertificateRequest"],
  ["certificates.k8s.io/v1beta1", "ClusterTrustBundle", "ClusterTrustBundle"],
  ["certificates.k8s.io/v1beta1", "PodCertificateRequest", "PodCertificateRequest"],
  ["authentication.k8s.io/v1", "TokenReview", "TokenReview"],
  ["authentication.k8s.io/v1", "TokenRequest", "authentication.TokenRequest"],
  ["authorization.k8s.io/v1", "SubjectAccessReview", "SubjectAccessReview"],
  ["resource.k8s.io/v1", "ResourceClaim", "resource.ResourceClaim"],
  ["resource.k8s.io/v1", "ResourceSlice", "ResourceSlice"],
];

type Json = Record<string, unknown>;

const TEXT = fc.oneof(fc.string({ maxLength: 40 }), fc.string({ unit: "grapheme", maxLength: 20 }));
const KEY = fc.oneof(fc.string({ maxLength: 10 }), fc.constant("__proto__"));
const INTEGER = fc.oneof(fc.integer({ min: -100, max: 100 }), fc.maxSafeInteger());
const TIME = fc
  .integer({ min: 0, max: 4_000_000_000 })
  .map((seconds) => new Date(seconds * 1000).toISOString().replace(".000Z", "Z"));
const MICRO_TIME = fc
  .tuple(TIME, fc.integer({ min: 0, max: 999_999 }))
  .map(([time, micros]) => time.replace("Z", `.${String(micros).padStart(6, "0")}Z`));
const JSON_VALUE = fc.dictionary(fc.string({ maxLength: 5 }), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 });

const SPECIAL: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  Quantity: fc.constantFrom("0", "1", "500m", "64Mi", "1e3"),
  Time: TIME,
  MicroTime: MICRO_TIME,
  IntOrString: fc.oneof(fc.integer({ min: 0, max: 65_535 }), fc.string({ maxLength: 15 })),
  RawExtension: JSON_VALUE,
  FieldsV1: JSON_VALUE,
  ExtraValue: fc.array(TEXT, { minLength: 1, maxLength: 3 }),
};

/** @param depth levels of messages below this one; deeper ones are absent */
export function objectOf(message: string, depth = 4): fc.Arbitrary<Json> {
  const record: Record<string, fc.Arbitrary<unknown>> = {};
  const inline: fc.Arbitrary<Json>[] = [];
  for (const field of SCHEMA.fields(message)) {
    if (field.type === "ManagedFieldsEntry") continue;
    if (field.kind === "inline") inline.push(objectOf(field.type, depth));
    else if (depth > 0 || isPlain(field)) record[field.name] = fieldOf(field, depth - 1);
  }
  const own = fc.record(record, { requiredKeys: [] }) as fc.Arbitrary<Json>;
  return fc.tuple(own, ...inline).map((parts) => Object.assign({}, ...parts) as Json);
}

const isPlain = ({ type }: Field): boolean => ["s", "b", "i", "y"].includes(type) || type in SPECIAL;

function fieldOf(field: Field, depth: number): fc.Arbitrary<unknown> {
  const value = valueOf(field, depth);
  if (field.kind === "repeated") return fc.array(value, { minLength: 1, maxLength: 2 });
  if (field.kind === "map") return fc.array(fc.tuple(KEY, value), { minLength: 1, maxLength: 2 }).map(fromEntries);
  return field.dropsEmpty ? value.filter((one) => one !== "" && one !== 0 && one !== false) : value;
}

function valueOf({ type }: Field, depth: number): fc.Arbitrary<unknown> {
  switch (type) {
    case "s":
      return TEXT;
    case "b":
      return fc.boolean();
    case "i":
      return INTEGER;
    case "y":
      return fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes).toString("base64"));
    default:
      return SPECIAL[type] ?? objectOf(type, depth);
  }
}

/** "__proto__" is a key like any other, as in JSON. */
function fromEntries(entries: readonly (readonly [string, unknown])[]): Json {
  const map: Json = {};
  for (const [key, value] of entries) {
    Object.defineProperty(map, key, { value, configurable: true, enumerable: true, writable: true });
  }
  return map;
}
