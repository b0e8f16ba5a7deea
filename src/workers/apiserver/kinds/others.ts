// Namespaces, secrets, config maps, nodes and the strategy of each resource.

import { randomUUID } from "node:crypto";
import { configKey } from "../../../shared/kubernetes/api/manifest/formats.js";
import { FieldError } from "../objects/errors.js";
import { fieldsAt, isSame, nowText, textAt, type ApiObject } from "../objects/object.js";
import type { Resource } from "../objects/resource.js";
import { resourceNamed } from "../objects/resources.js";
import { keyOf } from "../store/tables.js";
import { claimStrategy } from "./claims.js";
import { podStrategy } from "./pods.js";
import { secretErrors } from "./secrets.js";
import type { Strategy } from "./strategy.js";

const namespaceStrategy: Strategy = {
  prepareCreate(namespace) {
    const { metadata } = namespace;
    metadata.labels = { ...metadata.labels, "kubernetes.io/metadata.name": metadata.name };
    namespace.spec = { finalizers: ["kubernetes"] };
    namespace.status = { phase: "Active" };
  },
  created({ metadata }, { tx, world }) {
    const resource = resourceNamed("serviceaccounts");
    if (tx.get(resource, keyOf(metadata.name, "default")) !== undefined) return;
    tx.put(resource, {
      apiVersion: "v1",
      kind: "ServiceAccount",
      metadata: {
        name: "default",
        namespace: metadata.name,
        uid: randomUUID(),
        creationTimestamp: nowText(world.clock),
      },
    });
  },
};

/** What is immutable stays as it is; a secret's type does in any case. */
function dataErrors(next: ApiObject, old: ApiObject): FieldError[] {
  if (old["immutable"] !== true) return [];
  return ["immutable", "data", "binaryData"]
    .filter((field) => !isSame(next[field], old[field]))
    .map((field) => FieldError.forbidden(field, "field is immutable when `immutable` is set"));
}

/** Bytes of all values of a config map or secret, as upstream bounds them. */
const MAX_DATA_BYTES = 1024 * 1024;
const KEY_RULE =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or " +
  "'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";

/** Keys become names of files in volumes. */
function keyErrors(object: ApiObject): FieldError[] {
  const maps = ["data", "binaryData"].map((field) => [field, Object.entries(fieldsAt(object, field))] as const);
  const errors = maps.flatMap(([field, entries]) =>
    entries
      .filter(([key]) => configKey(key) !== undefined)
      .map(([key]) => FieldError.invalid(`${field}[${key}]`, key, KEY_RULE)),
  );
  const binary = fieldsAt(object, "binaryData");
  const doubled = Object.keys(fieldsAt(object, "data")).filter((key) => Object.hasOwn(binary, key));
  errors.push(
    ...doubled.map((key) => FieldError.invalid(`data[${key}]`, key, "duplicate of key present in binaryData")),
  );
  const texts = maps.flatMap(([, entries]) => entries).filter(([, value]) => typeof value === "string");
  const bytes = texts.reduce((sum, [, value]) => sum + Buffer.byteLength(value as string), 0);
  // A secret's are larger by a third as base64.
  const most = object.kind === "Secret" ? (MAX_DATA_BYTES / 3) * 4 : MAX_DATA_BYTES;
  return bytes <= most ? errors : [...errors, FieldError.tooLong("data", MAX_DATA_BYTES)];
}

const configMapStrategy: Strategy = { validate: keyErrors, validateUpdate: dataErrors };

const secretStrategy: Strategy = {
  prepareCreate: (secret) => {
    secret["type"] ??= "Opaque";
    plainText(secret);
  },
  prepareUpdate: plainText,
  validate: (secret) => [...keyErrors(secret), ...secretErrors(secret)],
  validateUpdate: (next, old) => [
    ...dataErrors(next, old),
    ...(next["type"] === old["type"] ? [] : [FieldError.invalid("type", next["type"], "field is immutable")]),
  ],
};

/** stringData is for writing only. */
function plainText(secret: ApiObject): void {
  const texts = Object.entries(fieldsAt(secret, "stringData"));
  if (texts.length > 0) {
    const encoded = texts.map(([key, value]) => [key, Buffer.from(String(value)).toString("base64")]);
    secret["data"] = { ...fieldsAt(secret, "data"), ...(Object.fromEntries(encoded) as Record<string, string>) };
  }
  delete secret["stringData"];
}

const eventStrategy: Strategy = {
  validate(event) {
    const involved = textAt(fieldsAt(event, "involvedObject"), "namespace");
    if ((involved ?? "default") === event.metadata.namespace) return [];
    return [FieldError.invalid("involvedObject.namespace", involved ?? "", "does not match event.namespace")];
  },
};

/** A lease with other numbers would never expire, or always have. */
const leaseStrategy: Strategy = {
  validate(lease) {
    const spec = fieldsAt(lease, "spec");
    const { leaseDurationSeconds: duration, leaseTransitions: transitions } = spec;
    return [
      ...(spec["holderIdentity"] === "" ? [FieldError.required("spec.holderIdentity")] : []),
      ...(Number(duration ?? 1) > 0
        ? []
        : [FieldError.invalid("spec.leaseDurationSeconds", duration, "must be greater than 0")]),
      ...(Number(transitions ?? 0) >= 0
        ? []
        : [FieldError.invalid("spec.leaseTransitions", transitions, "must be greater than or equal to 0")]),
    ];
  },
  /** Each node renews its lease every ten seconds: an SD card would wear out. */
  isFleeting: (next, old) => isSame(withoutRenewal(next), withoutRenewal(old)),
};

function withoutRenewal(lease: ApiObject): ApiObject {
  const { managedFields: _, ...metadata } = lease.metadata;
  return { ...lease, metadata, spec: { ...fieldsAt(lease, "spec"), renewTime: undefined } };
}

const STRATEGIES: Readonly<Record<string, Strategy>> = {
  pods: podStrategy,
  namespaces: namespaceStrategy,
  secrets: secretStrategy,
  configmaps: configMapStrategy,
  events: eventStrategy,
  "leases.coordination.k8s.io": leaseStrategy,
  persistentvolumeclaims: claimStrategy,
};
const NONE: Strategy = {};

export function strategyOf({ key }: Resource): Strategy {
  return STRATEGIES[key] ?? NONE;
}
