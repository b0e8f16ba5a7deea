// Every refusal is an ApiError, sent as a Status object. Reasons, details and the words are the server's contract:
// clients tell causes apart by them.

import { omitUndefined } from "../../../shared/base/objects/omit-undefined.js";
import { quote } from "../../../shared/base/text/quote.js";
import { jsonText } from "./json.js";
import type { Fields } from "./object.js";
import type { Resource } from "./resource.js";

interface Cause {
  reason?: string;
  message: string;
  field?: string;
}

export interface StatusDetails {
  name?: string;
  group?: string;
  kind?: string;
  uid?: string;
  causes?: Cause[];
  retryAfterSeconds?: number;
}

export class ApiError extends Error {
  /** What a client shows its user beside the refusal. */
  warnings: readonly string[] = [];

  constructor(
    readonly code: number,
    readonly reason: string,
    message: string,
    readonly details?: StatusDetails,
    /** More of metadata: the continue token of an expired list. */
    readonly listMeta: Fields = {},
  ) {
    super(message);
  }

  toStatus(): Fields {
    return omitUndefined<Fields>({
      kind: "Status",
      apiVersion: "v1",
      metadata: this.listMeta,
      status: "Failure",
      message: this.message,
      reason: this.reason || undefined,
      details: this.details,
      code: this.code,
    });
  }
}

type Of = Pick<Resource, "group" | "resource" | "kind">;

const groupResource = ({ group, resource }: Of): string => (group === "" ? resource : `${resource}.${group}`);

/** `kind` in details is the resource's name: the server's own habit. */
function details({ group, resource }: Of, name: string): StatusDetails {
  return omitUndefined<StatusDetails>({ name: name || undefined, group: group || undefined, kind: resource });
}

export function notFound(of: Of, name: string): ApiError {
  return new ApiError(404, "NotFound", `${groupResource(of)} ${quote(name)} not found`, details(of, name));
}

export function alreadyExists(of: Of, name: string): ApiError {
  return new ApiError(409, "AlreadyExists", `${groupResource(of)} ${quote(name)} already exists`, details(of, name));
}

export const MODIFIED = "the object has been modified; please apply your changes to the latest version and try again";

export function conflict(of: Of, name: string, why: string): ApiError {
  const message = `Operation cannot be fulfilled on ${groupResource(of)} ${quote(name)}: ${why}`;
  return new ApiError(409, "Conflict", message, details(of, name));
}

/** A refused precondition of a delete: named by kind, as the server has it. */
export function preconditionConflict(of: Of, name: string, why: string): ApiError {
  const message = `Operation cannot be fulfilled on ${of.kind} ${quote(name)}: ${why}`;
  return new ApiError(409, "Conflict", message, { ...details(of, name), kind: of.kind });
}

export function forbidden(of: Of, name: string, why: string): ApiError {
  const what = name === "" ? `${groupResource(of)} is` : `${groupResource(of)} ${quote(name)} is`;
  return new ApiError(403, "Forbidden", `${what} forbidden: ${why}`, details(of, name));
}

/** One broken rule about one field. */
export class FieldError {
  private constructor(
    readonly reason: string,
    readonly field: string,
    readonly text: string,
  ) {}

  static required(field: string, detail = ""): FieldError {
    return new FieldError("FieldValueRequired", field, `Required value${detail === "" ? "" : `: ${detail}`}`);
  }
  static invalid(field: string, value: unknown, detail: string): FieldError {
    return new FieldError("FieldValueInvalid", field, `Invalid value: ${jsonText(value)}: ${detail}`);
  }
  static forbidden(field: string, detail: string): FieldError {
    return new FieldError("FieldValueForbidden", field, `Forbidden: ${detail}`);
  }
  static duplicate(field: string, value: unknown): FieldError {
    return new FieldError("FieldValueDuplicate", field, `Duplicate value: ${jsonText(value)}`);
  }
  static notFound(field: string, value: unknown): FieldError {
    return new FieldError("FieldValueNotFound", field, `Not found: ${jsonText(value)}`);
  }
  static tooLong(field: string, bytes: number): FieldError {
    return new FieldError("FieldValueTooLong", field, `Too long: may not be more than ${bytes} bytes`);
  }
  static unsupported(field: string, value: unknown, supported: readonly string[]): FieldError {
    const known = supported.map((one) => quote(one)).join(", ");
    const text = `Unsupported value: ${jsonText(value)}: supported values: ${known}`;
    return new FieldError("FieldValueNotSupported", field, text);
  }
}

export function invalid(of: Pick<Of, "group" | "kind">, name: string, errors: readonly FieldError[]): ApiError {
  // A repeated problem is one sentence with two causes.
  const lines = [...new Set(errors.map(({ field, text }) => `${field}: ${text}`))];
  const qualified = of.group === "" ? of.kind : `${of.kind}.${of.group}`;
  const message = lines.length === 1 ? lines.join("") : `[${lines.join(", ")}]`;
  const details = omitUndefined<StatusDetails>({
    name: name || undefined,
    group: of.group || undefined,
    kind: of.kind || undefined,
    causes: errors.map(({ reason, field, text }) => ({ reason, message: text, field })),
  });
  return new ApiError(422, "Invalid", `${qualified} ${quote(name)} is invalid: ${message}`, details);
}

export function badRequest(message: string): ApiError {
  return new ApiError(400, "BadRequest", message);
}

export function unauthorized(): ApiError {
  return new ApiError(401, "Unauthorized", "Unauthorized");
}

/**
 * A resource, or a verb of one, that other servers have. kubectl words this by itself, and shows the warning: it asks
 * for custom resources when it meets a kind that discovery does not have.
 */
export function notServed(refusal: ApiError): ApiError {
  refusal.warnings = [NOT_SERVED];
  return refusal;
}

const NOT_SERVED =
  "a node without a cluster serves pods and what they use, see kubectl api-resources: " +
  "Deployments, Services, Jobs and custom resources need a cluster";

export function methodNotAllowed(): ApiError {
  return new ApiError(405, "MethodNotAllowed", "the server does not allow this method on the requested resource", {});
}

export function noSuchResource(): ApiError {
  return new ApiError(404, "NotFound", "the server could not find the requested resource", {});
}

export function unsupportedMediaType(accepted: readonly string[]): ApiError {
  const types = [...accepted, "application/vnd.kubernetes.protobuf"].join(", ");
  const message = `the body of the request was in an unknown format - accepted media types include: ${types}`;
  return new ApiError(415, "UnsupportedMediaType", message);
}

export function unsupportedPatch(): ApiError {
  return new ApiError(415, "UnsupportedMediaType", "415: Unsupported Media Type", {});
}

export function expired(message: string, listMeta: Fields = {}): ApiError {
  return new ApiError(410, "Expired", message, undefined, listMeta);
}

export function tooManyRequests(message: string, retryAfterSeconds: number): ApiError {
  return new ApiError(429, "TooManyRequests", message, { retryAfterSeconds });
}

/** The client knows a later version than there is. */
export function tooLargeVersion(wanted: number, current: number): ApiError {
  return new ApiError(504, "Timeout", `Timeout: Too large resource version: ${wanted}, current: ${current}`, {
    causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
    retryAfterSeconds: 1,
  });
}

export function internalError(message: string): ApiError {
  return new ApiError(500, "InternalError", `Internal error occurred: ${message}`, { causes: [{ message }] });
}
