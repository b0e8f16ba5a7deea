// Two groups show the same events under different field names; they are stored in the core form.

import { removeField, type ApiObject, type Fields } from "../../../src/workers/apiserver/objects/object.js";
import { apiVersionOf, type Resource } from "../resources.js";

/** Name in events.k8s.io to name in the core group, where they differ. */
const NAMES: Readonly<Record<string, string>> = {
  regarding: "involvedObject",
  note: "message",
  reportingController: "reportingComponent",
  deprecatedSource: "source",
  deprecatedFirstTimestamp: "firstTimestamp",
  deprecatedLastTimestamp: "lastTimestamp",
  deprecatedCount: "count",
};

/** A stored object as the resource shows it. */
export function toView(resource: Resource, object: ApiObject): ApiObject {
  if (resource.storage === resource.key) return object;
  return renamed(object, Object.fromEntries(Object.entries(NAMES).map(([shown, kept]) => [kept, shown])), resource);
}

/** Converts an object from the resource's form to the stored form. */
export function toStored(resource: Resource, object: ApiObject): ApiObject {
  if (resource.storage === resource.key) return object;
  return renamed(object, NAMES, { group: "", version: "v1" });
}

function renamed(
  object: ApiObject,
  names: Readonly<Record<string, string>>,
  of: Pick<Resource, "group" | "version">,
): ApiObject {
  const result: Fields = { ...object, apiVersion: apiVersionOf(of) };
  for (const field of Object.keys(names)) removeField(result, field);
  for (const [from, to] of Object.entries(names)) if (object[from] !== undefined) result[to] = object[from];
  return result as unknown as ApiObject;
}
