// How calls to the API server fail: it refused (ApiError), or it could not be asked (ApiConnectionError).
import { isCredentialError } from "./credentials/errors.js";

/** The server's answer when it refuses (meta/v1 Status). */
export interface StatusDetails {
  name?: string;
  group?: string;
  kind?: string;
  uid?: string;
  causes?: { reason?: string; message?: string; field?: string }[];
  /** Seconds. */
  retryAfterSeconds?: number;
}

/** The API server answered, and refused. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  constructor(
    /** HTTP status code. */
    readonly status: number,
    /** "NotFound", "Conflict", "Expired", …; "" when the answer was no Status. */
    readonly reason: string,
    /** The server's own words. */
    message: string,
    readonly details: StatusDetails = {},
  ) {
    super(message);
  }
}

/** The API server could not be reached, did not answer in time, or broke off. */
export class ApiConnectionError extends Error {
  override readonly name = "ApiConnectionError";
  readonly code = "API_CONNECTION";
}

export const isApiError = (error: unknown): error is ApiError => error instanceof ApiError;
export const isApiConnectionError = (error: unknown): error is ApiConnectionError =>
  error instanceof ApiConnectionError;
export const isNotFound = (error: unknown): boolean => isApiError(error) && error.status === 404;
export const isConflict = (error: unknown): boolean =>
  isApiError(error) && error.status === 409 && error.reason !== "AlreadyExists";
export const isAlreadyExists = (error: unknown): boolean =>
  isApiError(error) && error.status === 409 && error.reason === "AlreadyExists";
export const isForbidden = (error: unknown): boolean => isApiError(error) && error.status === 403;
/** The namespace of the object to create is being deleted. */
export const isNamespaceTerminating = (error: unknown): boolean =>
  isForbidden(error) &&
  isApiError(error) &&
  (error.details.causes ?? []).some(({ reason }) => reason === "NamespaceTerminating");
/** The version asked for is no longer kept: list anew. */
export const isGone = (error: unknown): boolean => isApiError(error) && error.status === 410;
/** The server has not come to the version asked for, after waiting for it: its storage is behind, or was set back. */
export const isTooLargeVersion = (error: unknown): boolean =>
  isApiError(error) &&
  error.status === 504 &&
  ((error.details.causes ?? []).some(({ reason }) => reason === "ResourceVersionTooLarge") ||
    error.message.includes("Too large resource version"));
/** Too many requests, the server can't serve now, or our credentials are not there yet: worth another try, later. */
export const isRetriable = (error: unknown): boolean =>
  isApiConnectionError(error) ||
  isCredentialError(error) ||
  (isApiError(error) && (error.status === 429 || error.status >= 500));
