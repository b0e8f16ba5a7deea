// The form in which a client wants objects: whole, as rows of a table, or their metadata alone.

import type { Clock } from "../../../shared/base/clock/clock.js";
import { PROTOBUF_TYPE } from "../../../shared/kubernetes/api/client/call/body.js";
import { ApiError } from "../objects/errors.js";
import { jsonText } from "../objects/json.js";
import type { ApiObject, Fields } from "../objects/object.js";
import type { Resource } from "../objects/resource.js";
import { metadataOf, tableOf } from "./table.js";

export type Form = "Object" | "Table" | "PartialObjectMetadata";

const FORMS: Readonly<Record<string, Form>> = {
  Table: "Table",
  PartialObjectMetadata: "PartialObjectMetadata",
  PartialObjectMetadataList: "PartialObjectMetadata",
};
/** All are answered as JSON: clients that take protobuf read the type of the answer. */
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

/** @param shown an object or a list */
export function inForm(
  form: Exclude<Form, "Object">,
  resource: Resource,
  shown: Fields,
  query: URLSearchParams,
  now: number,
): string {
  const object = shown as ApiObject;
  return jsonText(form === "Table" ? tableOf(resource, object, query, now, true) : metadataOf(object));
}

/** Line of an event; undefined for one that is sent whole. */
export type EventInForm = (type: string, object: Fields) => string | undefined;

/** For the events of one watch; only the first table has the columns. */
export function eventsInForm(form: Form, resource: Resource, query: URLSearchParams, clock: Clock): EventInForm {
  if (form === "Object") return () => undefined;
  let isFirst = true;
  return (type, object) => {
    if (type === "ERROR" || (type === "BOOKMARK" && form === "Table")) return undefined;
    const whole = object as ApiObject;
    const shown = form === "Table" ? tableOf(resource, whole, query, clock.now(), isFirst) : metadataOf(whole);
    isFirst = false;
    return `${jsonText({ type, object: shown })}\n`;
  };
}
