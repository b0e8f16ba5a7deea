// One object, one file: <resource>/<namespace>/<name>.json, indented JSON that people read and edit. Objects without a
// namespace stand in "_". A name that is too long for a file is cut, with "~" and its digest: no name has that
// character.

import { createHash } from "node:crypto";
import { dnsLabel } from "../../../shared/kubernetes/api/manifest/formats.js";
import { jsonText, parsedJson } from "../objects/json.js";
import { nameErrors } from "../objects/names.js";
import { isFields, type ApiObject } from "../objects/object.js";
import { apiVersionOf, type Resource } from "../objects/resource.js";

/** Leaves room for the names of temporary files: a name has 255 bytes at most. */
const LONGEST = 200;
const NO_NAMESPACE = "_";

/** Below the folder of objects. */
export function pathOf({ key }: Pick<Resource, "key">, { metadata }: Pick<ApiObject, "metadata">): string {
  const { name, namespace = NO_NAMESPACE } = metadata;
  const file = name.length <= LONGEST ? name : `${name.slice(0, LONGEST - 33)}~${digestOf(name).slice(0, 32)}`;
  return `${key}/${namespace}/${file}.json`;
}

/** What only its owner may read. */
export function modeOf({ key }: Pick<Resource, "key">): number {
  return key === "secrets" ? 0o600 : 0o640;
}

export function textOf(object: ApiObject): string {
  return `${jsonText(object, 2)}\n`;
}

/** The object of a file. @throws Error that names the fault */
export function objectOf(text: string, path: string, resource: Resource): ApiObject {
  const value = parsedJson(text);
  if (!isFields(value) || !isFields(value["metadata"]) || typeof value["metadata"]["name"] !== "string") {
    throw new Error("it is no object with metadata.name");
  }
  const object = value as unknown as ApiObject;
  if (object.kind !== resource.kind) throw new Error(`its kind is ${object.kind} instead of ${resource.kind}`);
  // A file may leave out what its folder says.
  if (resource.namespaced) object.metadata.namespace ??= path.split("/")[1] ?? "";
  const version = apiVersionOf(resource);
  if (object.apiVersion !== version) throw new Error(`its apiVersion is ${object.apiVersion} instead of ${version}`);
  // Names become parts of paths, here and on the kubelet's disk.
  const { namespace } = object.metadata;
  const [fault] = nameErrors(resource, object.metadata);
  if (fault !== undefined) throw new Error(`${fault.field}: ${fault.text}`);
  if (resource.namespaced !== (typeof namespace === "string" && dnsLabel(namespace) === undefined)) {
    throw new Error(`metadata.namespace: Invalid value: ${JSON.stringify(namespace)}`);
  }
  const expected = pathOf(resource, object);
  if (expected !== path) throw new Error(`an object of this name and namespace belongs into ${expected}`);
  return object;
}

export function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
