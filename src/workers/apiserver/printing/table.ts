// Answers as tables (meta.k8s.io/v1 Table), which `kubectl get` prints: the server makes the columns.

import type { Clock } from "../../../shared/base/clock/clock.js";
import { isFields, type ApiObject, type Fields } from "../objects/object.js";
import type { Resource } from "../objects/resource.js";
import { columnsOf, type Column } from "./columns.js";

/** The client's first choice is a table. */
export function isTableWanted(accept = ""): boolean {
  const [type = "", ...parameters] = (accept.split(",")[0] ?? "").split(";").map((word) => word.trim());
  return type === "application/json" && parameters.includes("as=Table") && parameters.includes("g=meta.k8s.io");
}

/** @param text JSON of an object or of a list */
export function toTable(resource: Resource, text: string, query: URLSearchParams, now: number): string {
  return JSON.stringify(tableOf(resource, JSON.parse(text) as ApiObject, query, now, true));
}

/** Makes tables of the events of one watch; only the first has the columns. */
export function tableLines(resource: Resource, query: URLSearchParams, clock: Clock): (line: string) => string {
  let isFirst = true;
  return (line) => {
    const { type, object } = JSON.parse(line) as { type: string; object: ApiObject };
    if (type === "ERROR" || type === "BOOKMARK") return line;
    const table = tableOf(resource, object, query, clock.now(), isFirst);
    isFirst = false;
    return `${JSON.stringify({ type, object: table })}\n`;
  };
}

function tableOf(
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
  const { group, version, kind } = resource;
  const typed = { kind, apiVersion: group === "" ? version : `${group}/${version}` };
  if (wanted === "Object") return { ...object, ...typed };
  return { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata: object.metadata };
}
