// Refusals of the manifest API as values, with the reasons of metav1.Status, and the check of a request's conditions. Source:
// https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/status/
import { ManifestError, violationText, type ManifestViolation } from "../../../shared/api/manifest/violation.js";
import type { ManifestName, ManifestRefusal, Condition } from "../../../shared/contracts/manifests.js";

const CAUSES: Readonly<Record<ManifestViolation["reason"], string>> = {
  syntax: "FieldValueInvalid",
  limit: "FieldValueTooLong",
  "wrong type": "FieldValueTypeInvalid",
  "required value": "FieldValueRequired",
  "unsupported value": "FieldValueNotSupported",
  "invalid value": "FieldValueInvalid",
  "duplicate value": "FieldValueDuplicate",
  forbidden: "FieldValueForbidden",
};

/** 400 for a text that cannot be read, 422 for pods that cannot be accepted. */
export function invalid(violations: readonly ManifestViolation[]): ManifestRefusal {
  const unreadable = violations.every(({ reason }) => reason === "syntax");
  return {
    code: unreadable ? 400 : 422,
    reason: unreadable ? "BadRequest" : "Invalid",
    message: new ManifestError("in the request's body", violations).message,
    causes: violations.map((violation) => ({
      reason: CAUSES[violation.reason],
      message: `${violation.line === 0 ? "" : `line ${violation.line}, column ${violation.column}: `}${violationText(violation)}`,
      field: violation.field,
    })),
  };
}

export function badRequest(message: string): ManifestRefusal {
  return { code: 400, reason: "BadRequest", message };
}

export function conflict(reason: "AlreadyExists" | "Conflict", message: string): ManifestRefusal {
  return { code: 409, reason, message };
}

export function notFound({ namespace, name }: ManifestName): ManifestRefusal {
  return { code: 404, reason: "NotFound", message: `manifest ${namespace}/${name} does not exist` };
}

export function unavailable(message: string): ManifestRefusal {
  return { code: 503, reason: "ServiceUnavailable", message };
}

// Whether If-Match and If-None-Match (RFC 9110) allow the write. So two writers do not undo each other's changes.

/** `current`: version of the manifest that is there; undefined: there is none. */
export function refusedByCondition(
  { ifMatch, ifNoneMatch }: Condition,
  current: string | undefined,
  { namespace, name }: ManifestName,
): ManifestRefusal | undefined {
  const manifest = `manifest ${namespace}/${name}`;
  const failed = (message: string): ManifestRefusal => ({ code: 412, reason: "Conflict", message });
  if (ifNoneMatch !== undefined && matches(ifNoneMatch, current)) {
    return failed(`${manifest} exists with ETag "${current}", which If-None-Match excludes`);
  }
  if (ifMatch === undefined || matches(ifMatch, current)) return undefined;
  if (current === undefined) return failed(`${manifest} does not exist, but If-Match requires a version of it`);
  return failed(
    `${manifest} has ETag "${current}", not one of If-Match: another client changed it; get it and apply the change again`,
  );
}

/** For a PUT of a manifest that exists. */
export function refusedWithoutCondition(
  { ifMatch, ifNoneMatch }: Condition,
  current: string,
  { namespace, name }: ManifestName,
): ManifestRefusal | undefined {
  if (ifMatch !== undefined || ifNoneMatch !== undefined) return undefined;
  return {
    code: 428,
    reason: "PreconditionRequired",
    message: `manifest ${namespace}/${name} exists: send If-Match with its ETag "${current}", or If-Match: * to replace any version`,
  };
}

/** A weak tag never matches: each version has other bytes. */
function matches(header: string, current: string | undefined): boolean {
  if (current === undefined) return false;
  if (header.trim() === "*") return true;
  return header.split(",").some((tag) => tag.trim() === `"${current}"`);
}
