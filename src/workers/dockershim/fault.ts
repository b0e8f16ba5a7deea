// Errors that a CRI call answers with. A caller decides by the code: NotFound means removed, Unavailable means try
// again.

import { status } from "@grpc/grpc-js";
import { errorCode } from "../../shared/base/errors/error-code.js";
import { asError, messageOf } from "../../shared/base/errors/thrown.js";

export type FaultCode =
  | "NOT_FOUND"
  | "ALREADY_EXISTS"
  | "INVALID_ARGUMENT"
  | "FAILED_PRECONDITION"
  | "UNAVAILABLE"
  | "RESOURCE_EXHAUSTED"
  | "UNIMPLEMENTED"
  | "UNKNOWN"
  | "DEADLINE_EXCEEDED";

/** An error with its gRPC code. */
export class Fault extends Error {
  override readonly name = "Fault";
  constructor(
    readonly code: FaultCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** The HTTP status of the Engine's answer; undefined: the Engine did not answer. */
export function engineStatus(error: unknown): number | undefined {
  const code: unknown = error instanceof Error && "statusCode" in error ? error.statusCode : undefined;
  return typeof code === "number" ? code : undefined;
}

export function isNotFound(error: unknown): boolean {
  return engineStatus(error) === 404 || (error instanceof Fault && error.code === "NOT_FOUND");
}

const UNREACHABLE = new Set(["ECONNREFUSED", "ENOENT", "ECONNRESET", "EPIPE", "ENOTSOCK", "EACCES"]);

/** True if there is no Engine behind the endpoint, or it went away. */
export function isUnreachable(error: unknown): boolean {
  return engineStatus(error) === undefined && UNREACHABLE.has(errorCode(error) ?? "");
}

/** The Engine's message, without the client's frame: "No such container: 1a2b". */
export function engineMessage(error: unknown): string {
  const json: unknown = error instanceof Error && "json" in error ? error.json : undefined;
  if (typeof json === "object" && json !== null && "message" in json && typeof json.message === "string")
    return json.message;
  // An error in place of a stream has no JSON.
  return messageOf(error)
    .replace(/^\(HTTP code \d+\) [^-]* - /, "")
    .trim();
}

/** The form that grpc-js sends. */
export function toStatus(error: unknown): { code: status; details: string } {
  if (error instanceof Fault) return { code: status[error.code], details: error.message };
  if (isUnreachable(error))
    return { code: status.UNAVAILABLE, details: `the Docker Engine does not respond: ${messageOf(error)}` };
  const details = engineMessage(error);
  switch (engineStatus(error)) {
    case 404:
      return { code: status.NOT_FOUND, details };
    case 400:
      return { code: status.INVALID_ARGUMENT, details };
    default:
      return { code: status.UNKNOWN, details: details === "" ? asError(error).name : details };
  }
}
