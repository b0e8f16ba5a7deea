// Values that a typed server can't decode: quantities, times in microseconds, base64. The error is 400 in a whole
// object and 422 in a patch.

import { badRequest, FieldError, invalid, type ApiError } from "../../../src/workers/apiserver/objects/errors.js";
import {
  fieldsAt,
  isFields,
  listAt,
  type ApiObject,
  type Fields,
} from "../../../src/workers/apiserver/objects/object.js";
import type { Resource } from "../resources.js";
import { CONTAINER_LISTS } from "./containers.js";
import { isQuantity, nanosOf } from "./quantities.js";

const QUANTITY_RULE = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const MICRO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}(Z|[+-]\d\d:\d\d)$/;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** Why it can't be read; undefined when it can. */
function decodeProblem({ key }: Resource, object: ApiObject): string | undefined {
  switch (key) {
    case "pods":
      return podProblem(object.spec ?? {});
    case "leases.coordination.k8s.io":
      return microTimes(object.spec ?? {}, ["acquireTime", "renewTime"]);
    case "events":
    case "events.events.k8s.io":
      return microTimes(object, ["eventTime"]);
    case "secrets":
      return Object.values(fieldsAt(object, "data")).every((value) => typeof value === "string" && BASE64.test(value))
        ? undefined
        : "illegal base64 data at input byte 0";
    default:
      return undefined;
  }
}

export function undecodable(resource: Resource, object: ApiObject): ApiError | undefined {
  const problem = decodeProblem(resource, object);
  const { kind, version } = resource;
  return problem === undefined
    ? undefined
    : badRequest(`${kind} in version "${version}" cannot be handled as a ${kind}: ${problem}`);
}

export function undecodablePatch(resource: Resource, object: ApiObject, patch: string): ApiError | undefined {
  const problem = decodeProblem(resource, object);
  if (problem === undefined) return undefined;
  const refusal = invalid({ group: "", kind: "" }, "", [FieldError.invalid("patch", patch, problem)]);
  return refusal;
}

function podProblem(spec: Fields): string | undefined {
  for (const list of CONTAINER_LISTS) {
    const written = spec[list];
    if (written !== undefined && !Array.isArray(written)) {
      return `json: cannot unmarshal ${typeof written} into Go struct field PodSpec.spec.${list} of type []v1.Container`;
    }
    for (const container of listAt(spec, list)) {
      for (const kind of ["limits", "requests"]) {
        for (const amount of Object.values(fieldsAt(fieldsAt(container, "resources"), kind))) {
          if (!isReadable(amount)) return QUANTITY_RULE;
        }
      }
    }
  }
  for (const field of ["activeDeadlineSeconds", "terminationGracePeriodSeconds", "priority"]) {
    const value = spec[field];
    if (value === undefined || typeof value === "number") continue;
    const type = field === "priority" ? "int32" : "int64";
    return `json: cannot unmarshal ${typeof value} into Go struct field PodSpec.spec.${field} of type ${type}`;
  }
  return undefined;
}

function isReadable(amount: unknown): boolean {
  if (!isQuantity(amount)) return false;
  try {
    nanosOf(amount);
    return true;
  } catch {
    return false;
  }
}

function microTimes(from: Fields, fields: readonly string[]): string | undefined {
  if (!isFields(from)) return undefined;
  for (const field of fields) {
    const written = from[field];
    if (typeof written !== "string" || MICRO_TIME.test(written)) continue;
    return `parsing time "${written}" as "2006-01-02T15:04:05.000000Z07:00": cannot parse it`;
  }
  return undefined;
}
