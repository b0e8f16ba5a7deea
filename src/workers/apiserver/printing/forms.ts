// The form in which a client wants objects: whole, as rows of a table, or their metadata alone.

import type { Clock } from "../../../shared/base/clock/clock.js";
import { PROTOBUF_TYPE } from "../../../shared/kubernetes/api/client/call/body.js";
import { ApiError } from "../objects/errors.js";
import type { ApiObject } from "../objects/object.js";
import type { Resource } from "../objects/resource.js";
import { metadataOf, tableOf } from "./table.js";

export type Form = "Object" | "Table" | "PartialObjectMetadata";

const FORMS: Readonly<Record<string, Form>> = {
  Table: "Table",
  PartialObjectMetadata: "PartialObjectMetadata",
  PartialObjectMetadataList: "PartialObjectMetadata",
};
/** All are answered as JSON: whoever takes protobuf reads the type of the answer. */
const TYPES = ["application/json", "application/yaml", "application/*", "*/*", PROTOBUF_TYPE];

/** The first of the client's choices that there is. @throws ApiError */
export function formOf(accept = "*/*"): Form {
  for (const choice of accept.split(",")) {
    const [type = "", ...parameters] = choice.split(";").map((word) => word.trim());
    const as = parameters.find((parameter) => parameter.startsWith("as="))?.slice("as=".length);
    if (!TYPES.includes(type)) continue;
    if (as === undefined) return "Object";
    const form = type === "application/json" && parameters.includes("g=meta.k8s.io") ? FORMS[as] : undefined;
    if (form !== undefined) return form;
  }
  const message = "only the following media types are accepted: application/json";
  throw new ApiError(406, "NotAcceptable", message, {});
}

/** @param text JSON of an object or of a list */
export function inForm(form: Form, resource: Resource, text: string, query: URLSearchParams, now: number): string {
  if (form === "Object") return text;
  const shown = JSON.parse(text) as ApiObject;
  return JSON.stringify(form === "Table" ? tableOf(resource, shown, query, now, true) : metadataOf(shown));
}

/** For the events of one watch; only the first table has the columns. */
export function linesInForm(
  form: Form,
  resource: Resource,
  query: URLSearchParams,
  clock: Clock,
): (line: string) => string {
  if (form === "Object") return (line) => line;
  let isFirst = true;
  return (line) => {
    const { type, object } = JSON.parse(line) as { type: string; object: ApiObject };
    if (type === "ERROR" || (type === "BOOKMARK" && form === "Table")) return line;
    const shown = form === "Table" ? tableOf(resource, object, query, clock.now(), isFirst) : metadataOf(object);
    isFirst = false;
    return `${JSON.stringify({ type, object: shown })}\n`;
  };
}
