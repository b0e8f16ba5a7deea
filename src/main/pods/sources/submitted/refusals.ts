// Refusals of the manifest API as values, with the reasons of metav1.Status, and the check of a request's conditions.
// Source: https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/status/

import type { ManifestName, ManifestRefusal } from "../../../../shared/contracts/manifests.js";
import {
  ManifestError,
  violationText,
  type ManifestViolation,
} from "../../../../shared/kubernetes/api/manifest/violation.js";

export class RefusedError extends Error {
  override readonly name = "RefusedError";
  constructor(readonly refusal: ManifestRefusal) {
    super(refusal.message);
  }
}

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
