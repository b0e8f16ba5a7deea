// Stored objects as JSON, made once per version: thousand pods are listed in the time it takes to join texts.

import type { ApiObject, Fields } from "../../../src/workers/apiserver/objects/object.js";
import { apiVersionOf, type Resource } from "../resources.js";
import { toView } from "./views.js";

const texts = new WeakMap<ApiObject, string>();
const itemTexts = new WeakMap<ApiObject, string>();

/** As the resource shows it; only one of two views of an object is cached. */
export function objectText(resource: Resource, object: ApiObject): string {
  if (resource.storage !== resource.key) return JSON.stringify(toView(resource, object));
  return cached(texts, object, () => JSON.stringify(object));
}

/** In a list the items carry neither kind nor apiVersion. */
function itemText(resource: Resource, object: ApiObject): string {
  const bare = (shown: ApiObject): string => JSON.stringify({ ...shown, kind: undefined, apiVersion: undefined });
  if (resource.storage !== resource.key) return bare(toView(resource, object));
  return cached(itemTexts, object, () => bare(object));
}

export function listText(resource: Resource, metadata: Fields, items: readonly ApiObject[]): string {
  const head = JSON.stringify({ kind: `${resource.kind}List`, apiVersion: apiVersionOf(resource), metadata });
  return `${head.slice(0, -1)},"items":[${items.map((item) => itemText(resource, item)).join(",")}]}`;
}

function cached(cache: WeakMap<ApiObject, string>, object: ApiObject, make: () => string): string {
  const known = cache.get(object);
  if (known !== undefined) return known;
  const text = make();
  if (Object.isFrozen(object)) cache.set(object, text);
  return text;
}
