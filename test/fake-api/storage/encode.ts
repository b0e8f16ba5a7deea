// Stored objects as JSON, made once per version: thousand pods are listed in the time it takes to join texts.
import { apiVersionOf, type Resource } from "../resources.js";
import type { ApiObject, Fields } from "../object.js";

const texts = new WeakMap<ApiObject, string>();
const itemTexts = new WeakMap<ApiObject, string>();

export function objectText(object: ApiObject): string {
  return cached(texts, object, () => JSON.stringify(object));
}

/** In a list the items carry neither kind nor apiVersion. */
export function itemText(object: ApiObject): string {
  return cached(itemTexts, object, () => JSON.stringify({ ...object, kind: undefined, apiVersion: undefined }));
}

export function listText(resource: Resource, metadata: Fields, items: readonly ApiObject[]): string {
  const head = JSON.stringify({ kind: `${resource.kind}List`, apiVersion: apiVersionOf(resource), metadata });
  return `${head.slice(0, -1)},"items":[${items.map(itemText).join(",")}]}`;
}

function cached(cache: WeakMap<ApiObject, string>, object: ApiObject, make: () => string): string {
  const known = cache.get(object);
  if (known !== undefined) return known;
  const text = make();
  if (Object.isFrozen(object)) cache.set(object, text);
  return text;
}
