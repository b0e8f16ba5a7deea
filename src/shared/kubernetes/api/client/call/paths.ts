// Paths and queries of the API, as meta/v1 names them.

import { quote } from "../../../../base/text/quote.js";
import type { ApiObject, ObjectRef, ResourceKind } from "../port.js";

type Query = Readonly<Record<string, string | number | boolean | undefined>>;

export function apiVersionOf({ group, version }: Pick<ResourceKind<ApiObject>, "group" | "version">): string {
  return group === "" ? version : `${group}/${version}`;
}

/** Returns the path of all objects of a kind; with a namespace, of those in it. */
export function collectionPath(kind: ResourceKind<ApiObject>, namespace: string | undefined): string {
  const root = kind.group === "" ? `/api/${kind.version}` : `/apis/${kind.group}/${kind.version}`;
  const within = kind.namespaced && namespace !== undefined && namespace !== "";
  return within ? `${root}/namespaces/${segment(namespace)}/${kind.resource}` : `${root}/${kind.resource}`;
}

/** @throws TypeError for a name that would make another path of it */
export function objectPath(kind: ResourceKind<ApiObject>, ref: ObjectRef, subresource?: string): string {
  if (kind.namespaced && (ref.namespace ?? "") === "") {
    throw new TypeError(`${kind.kind} ${quote(ref.name)} needs a namespace`);
  }
  const path = `${collectionPath(kind, ref.namespace)}/${segment(ref.name)}`;
  return subresource === undefined || subresource === "" ? path : `${path}/${subresource}`;
}

/** The path with those parameters that have a value. */
export function withQuery(path: string, query: Query): string {
  const words = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === "" ? [] : [`${name}=${encodeURIComponent(String(value))}`],
  );
  return words.length === 0 ? path : `${path}?${words.join("&")}`;
}

function segment(name: string): string {
  if (name === "" || name === "." || name === "..") throw new TypeError(`${quote(name)} is not the name of an object`);
  return encodeURIComponent(name);
}
