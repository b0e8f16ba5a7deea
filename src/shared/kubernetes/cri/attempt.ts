// One CRI call in progress: its deadline, and the data to describe its failure afterwards.

import type { ServiceError } from "@grpc/grpc-js";
import { plainDetails } from "../../base/errors/grpc-details.js";
import { messageOf } from "../../base/errors/thrown.js";
import { codeName, CriError, criError, type CriCode } from "./errors.js";
import { QueueTimeoutError } from "./limiter.js";
import { subjectOf } from "./request-subject.js";
import type { CriVerb } from "./verbs.js";

export interface Attempt {
  readonly verb: CriVerb;
  readonly request: object;
  readonly endpoint: string;
  readonly signal: AbortSignal | undefined;
  /** Milliseconds from sending to the response; undefined means no limit. */
  readonly deadlineMs: number | undefined;
  /** Milliseconds for the wait, too, if the caller has set them; otherwise a wait has no limit but its signal. */
  readonly totalMs: number | undefined;
  readonly urgent?: boolean | undefined;
  readonly onSent?: (() => void) | undefined;
  /** The reason of the kubelet's own cancellation: gRPC would only report CANCELLED. */
  gaveUp?: { code: CriCode; details: string };
}

/** Milliseconds that are left for sending and the response after the wait; undefined means no limit. */
export function remainingMs({ deadlineMs, totalMs }: Attempt, queuedMs: number): number | undefined {
  return totalMs === undefined ? deadlineMs : Math.max(0, totalMs - queuedMs);
}

/** The attempt's parts of a CriError. */
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
