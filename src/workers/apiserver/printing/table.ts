// Answers as tables (meta.k8s.io/v1 Table), which `kubectl get` prints: the server makes the columns.

import { isFields, type ApiObject, type Fields } from "../objects/object.js";
import { apiVersionOf, type Resource } from "../objects/resource.js";
import { columnsOf, type Column } from "./columns.js";

export function tableOf(
  resource: Resource,
  shown: ApiObject,
  query: URLSearchParams,
  now: number,
  withColumns: boolean,
): Fields {
  const columns = columnsOf(resource);
  const items = shown["items"];
  const isList = Array.isArray(items);
  const objects = (isList ? items.filter(isFields) : [shown]) as unknown as ApiObject[];
  const { resourceVersion, continue: next, remainingItemCount } = shown.metadata;
  return {
    kind: "Table",
    apiVersion: "meta.k8s.io/v1",
    metadata: isList ? { resourceVersion, continue: next, remainingItemCount } : { resourceVersion },
    columnDefinitions: withColumns ? columns.map(definition) : null,
    rows: objects.map((object) => ({
      cells: columns.map(({ cell }) => cell(object, now)),
      object: included(resource, object, query.get("includeObject") ?? ""),
    })),
  };
}

function definition({ name, type = "string", wide = false }: Column): Fields {
  const format = name === "Name" ? "name" : "";
  return { name, type, format, description: name, priority: wide ? 1 : 0 };
}

function included(resource: Resource, object: ApiObject, wanted: string): Fields | null {
  if (wanted === "None") return null;
  const { kind } = resource;
  return wanted === "Object" ? { ...object, kind, apiVersion: apiVersionOf(resource) } : metadataOf(object);
}

/** An object, or each of a list, without all that is not metadata. */
export function metadataOf({ metadata, items }: ApiObject): Fields {
  const head = { apiVersion: "meta.k8s.io/v1", metadata };
  if (!Array.isArray(items)) return { kind: "PartialObjectMetadata", ...head };
  const objects = items.filter(isFields) as unknown as ApiObject[];
  return { kind: "PartialObjectMetadataList", ...head, items: objects.map(metadataOf) };
}
