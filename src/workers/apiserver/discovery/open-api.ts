// As much OpenAPI v3 as kubectl reads: the paths of each version, that PATCH takes fieldValidation, so that the server
// validates fields, and the fields of each kind for `kubectl explain`. There are no descriptions.

import { createHash } from "node:crypto";
import { encode } from "../../../shared/kubernetes/api/protobuf/encode.js";
import { Schema, type Field } from "../../../shared/kubernetes/api/protobuf/schema.js";
import type { Fields } from "../objects/object.js";
import { apiVersionOf, type Resource } from "../objects/resource.js";
import { fieldsOf } from "../objects/schema.js";

const ROOT = "/openapi/v3";
const SCALARS: Readonly<Record<string, Fields>> = {
  s: { type: "string" },
  b: { type: "boolean" },
  i: { type: "integer" },
  y: { type: "string", format: "byte" },
  Time: { type: "string", format: "date-time" },
  MicroTime: { type: "string", format: "date-time" },
  Quantity: { type: "string" },
  IntOrString: { type: "string", format: "int-or-string" },
};

const INFO = { title: "Kubernetes", version: "v1.36.0" };
/**
 * Version 2 has no kinds. kubectl asks for it where version 3 does not have a kind, and for lists. It then checks no
 * fields by itself, and says that there is no such kind, or leaves the fields to the server.
 */
export const OPEN_API_V2: Fields = { swagger: "2.0", info: INFO, paths: {}, definitions: {} };
export const OPEN_API_V2_TYPE = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
const V2_SCHEMA = new Schema({ Document: "1 swagger s, 2 info Info", Info: "1 title s, 2 version s" });
export const OPEN_API_V2_BYTES = encode("Document", OPEN_API_V2, { schema: V2_SCHEMA });

/** undefined for other paths, and for versions that are not served. */
export function openApi(path: string, all: readonly Resource[]): Fields | undefined {
  if (path === ROOT) {
    const entries = [...new Set(all.map(rootOf))].map((root) => {
      const hash = createHash("sha256").update(root).digest("hex").toUpperCase();
      return [root, { serverRelativeURL: `${ROOT}/${root}?hash=${hash}` }];
    });
    return { paths: Object.fromEntries(entries) as Fields };
  }
  const served = all.filter((resource) => `${ROOT}/${rootOf(resource)}` === path);
  if (served.length === 0) return undefined;
  return {
    openapi: "3.0.0",
    info: INFO,
    paths: Object.fromEntries(
      served.map((resource) => [pathOf(resource), { get: operationOf(resource, "get"), patch: patchOf(resource) }]),
    ),
    components: { schemas: schemasOf(served) },
  };
}

function rootOf(resource: Pick<Resource, "group" | "version">): string {
  return `${resource.group === "" ? "api" : "apis"}/${apiVersionOf(resource)}`;
}

function pathOf(resource: Resource): string {
  const where = resource.namespaced ? "namespaces/{namespace}/" : "";
  return `/${rootOf(resource)}/${where}${resource.resource}/{name}`;
}

function patchOf(resource: Resource): Fields {
  const parameter = { name: "fieldValidation", in: "query", schema: { type: "string", uniqueItems: true } };
  return { ...operationOf(resource, "patch"), parameters: [parameter] };
}

function operationOf({ group, version, kind }: Resource, action: string): Fields {
  return {
    operationId: `${action}${kind}`,
    responses: { "200": { description: "OK" } },
    "x-kubernetes-action": action,
    "x-kubernetes-group-version-kind": { group, version, kind },
  };
}

/** The kinds and all messages below them. */
function schemasOf(served: readonly Resource[]): Fields {
  const schemas: Fields = {};
  const add = (message: string, more: Fields = {}, typed: Fields = {}): void => {
    if (schemas[message] !== undefined) return;
    const fields = [...fieldsOf(message)];
    schemas[message] = {
      description: "",
      type: "object",
      properties: { ...typed, ...Object.fromEntries(fields.map(([name, field]) => [name, propertyOf(field)])) },
      ...more,
    };
    for (const [, { type }] of fields) if (SCALARS[type] === undefined && fieldsOf(type).size > 0) add(type);
  };
  for (const { group, version, kind } of served) {
    const typed = { apiVersion: SCALARS["s"], kind: SCALARS["s"] };
    add(kind, { "x-kubernetes-group-version-kind": [{ group, version, kind }] }, typed);
  }
  return schemas;
}

function propertyOf({ type, kind }: Field): Fields {
  const one =
    SCALARS[type] ?? (fieldsOf(type).size > 0 ? { $ref: `#/components/schemas/${type}` } : { type: "object" });
  if (kind === "repeated") return { type: "array", items: one };
  return kind === "map" ? { type: "object", additionalProperties: one } : one;
}
