// One call on its way: what is needed to give it up in time and to say afterwards what went wrong.
import type { ServiceError } from "@grpc/grpc-js";
import { codeName, CriError, criError, type CriCode } from "./errors.js";
import { QueueTimeoutError } from "./limiter.js";
import { subjectOf } from "./subject.js";
import type { CriVerb } from "./verbs.js";
import { messageOf } from "../errors/thrown.js";

export interface Attempt {
  readonly verb: CriVerb;
  readonly request: object;
  readonly endpoint: string;
  readonly signal: AbortSignal | undefined;
  /** Milliseconds for waiting, sending and the answer together; undefined means no limit. */
  readonly budgetMs: number | undefined;
  /** Why we cancelled the call ourselves: gRPC would only say CANCELLED. */
  gaveUp?: { code: CriCode; details: string };
}

/** The parts of a CriError that the attempt knows. */
export function aboutAttempt(attempt: Attempt): { verb: CriVerb; subject: string; endpoint: string } {
  return { verb: attempt.verb, subject: subjectOf(attempt.request), endpoint: attempt.endpoint };
}

/** Any failure of the attempt as a CriError. */
export function attemptError(attempt: Attempt, cause: unknown): CriError {
  if (cause instanceof CriError) return cause;
  return criError({ ...aboutAttempt(attempt), ...codeAndDetails(attempt, cause), cause });
}

function codeAndDetails(attempt: Attempt, cause: unknown): { code: CriCode; details: string } {
  if (attempt.gaveUp !== undefined) return attempt.gaveUp;
  if (cause instanceof QueueTimeoutError) return { code: "DEADLINE_EXCEEDED", details: cause.message };
  if (isServiceError(cause)) return { code: codeName(cause.code), details: plainDetails(cause.details) };
  const details = messageOf(cause);
  return { code: attempt.signal?.aborted === true ? "CANCELLED" : "UNKNOWN", details };
}

function isServiceError(error: unknown): error is ServiceError {
  return error instanceof Error && "code" in error && typeof error.code === "number" && "details" in error;
}

/** grpc-js wraps the reason of a failed connection twice; only the reason helps a reader. */
function plainDetails(details: string): string {
  const reason = /^No connection established\. Last error: (?:Error: )?(.*?)\.? Resolution note:/s.exec(details)?.[1];
  return reason === undefined ? details : reason.replace(/ \(\d{4}-\d\d-\d\dT[\d:.]+Z\)$/, "");
}
