// Errors of calls to the API server: it refused (ApiError), or it could not be reached (ApiConnectionError).

import { CredentialError } from "./credentials/errors.js";

/** The server's response when it refuses (meta/v1 Status). */
export interface StatusDetails {
  name?: string;
  group?: string;
  kind?: string;
  uid?: string;
  causes?: { reason?: string; message?: string; field?: string }[];
  /** Seconds. */
  retryAfterSeconds?: number;
}

/** The API server responded with a refusal. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  constructor(
    /** HTTP status code. */
    readonly status: number,
    /** "NotFound", "Conflict", "Expired", …; "" if the response was no Status. */
    readonly reason: string,
    /** The server's own message. */
    message: string,
    readonly details: StatusDetails = {},
  ) {
    super(message);
  }
}

/** The API server could not be reached, did not respond in time, or ended the connection. */
export class ApiConnectionError extends Error {
  override readonly name = "ApiConnectionError";
}
export const isNotFound = (error: unknown): boolean => error instanceof ApiError && error.status === 404;
export const isConflict = (error: unknown): boolean =>
  error instanceof ApiError && error.status === 409 && error.reason !== "AlreadyExists";
export const isAlreadyExists = (error: unknown): boolean =>
  error instanceof ApiError && error.status === 409 && error.reason === "AlreadyExists";
export const isForbidden = (error: unknown): boolean => error instanceof ApiError && error.status === 403;
/** The namespace of the object to create is being deleted. */
export const isNamespaceTerminating = (error: unknown): boolean =>
  isForbidden(error) &&
  error instanceof ApiError &&
  (error.details.causes ?? []).some(({ reason }) => reason === "NamespaceTerminating");
/** The requested version is no longer kept: list again. */
export const isGone = (error: unknown): boolean => error instanceof ApiError && error.status === 410;
/** The server has not reached the requested version, after a wait: its storage is behind, or was restored. */
export const isTooLargeVersion = (error: unknown): boolean =>
  error instanceof ApiError &&
  error.status === 504 &&
  ((error.details.causes ?? []).some(({ reason }) => reason === "ResourceVersionTooLarge") ||
    error.message.includes("Too large resource version"));
/** Too many requests, the server can't serve now, or our credentials are not there yet: worth another try, later. */
export const isRetriable = (error: unknown): boolean =>
  error instanceof ApiConnectionError ||
  error instanceof CredentialError ||
  (error instanceof ApiError && (error.status === 429 || error.status >= 500));
