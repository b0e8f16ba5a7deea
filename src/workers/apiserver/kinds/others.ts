// Namespaces, secrets, config maps, nodes and the strategy of each resource.

import { randomUUID } from "node:crypto";
import { FieldError } from "../objects/errors.js";
import { fieldsAt, isSame, nowText, textAt, type ApiObject } from "../objects/object.js";
import type { Resource } from "../objects/resource.js";
import { resourceNamed } from "../objects/resources.js";
import { keyOf } from "../store/tables.js";
import { claimStrategy } from "./claims.js";
import { podStrategy } from "./pods.js";
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

const BASE64 = /^[A-Za-z0-9+/\s]*(?:={1,2}\s*)?$/;

/** What is immutable stays as it is; a secret's type does in any case. */
function dataErrors(next: ApiObject, old: ApiObject): FieldError[] {
  if (old["immutable"] !== true) return [];
  return ["immutable", "data", "binaryData"]
    .filter((field) => !isSame(next[field], old[field]))
    .map((field) => FieldError.forbidden(field, "field is immutable when `immutable` is set"));
}

const configMapStrategy: Strategy = { validateUpdate: dataErrors };

const secretStrategy: Strategy = {
  prepareCreate: (secret) => {
    secret["type"] ??= "Opaque";
    plainText(secret);
  },
  prepareUpdate: plainText,
  validate: (secret) =>
    Object.entries(fieldsAt(secret, "data"))
      .filter(([, value]) => typeof value !== "string" || !BASE64.test(value))
      .map(([key]) => FieldError.invalid(`data[${key}]`, "<secret>", "must be base64")),
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

const STRATEGIES: Readonly<Record<string, Strategy>> = {
  pods: podStrategy,
  namespaces: namespaceStrategy,
  secrets: secretStrategy,
  configmaps: configMapStrategy,
  events: eventStrategy,
  persistentvolumeclaims: claimStrategy,
};
const NONE: Strategy = {};

export function strategyOf({ key }: Resource): Strategy {
  return STRATEGIES[key] ?? NONE;
}
