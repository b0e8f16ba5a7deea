// What a CRI call can fail with: one class, its cause told by a code and tested by guards.

/** gRPC status codes by name, as the runtime sends them. */
export const GRPC_CODES = [
  "OK",
  "CANCELLED",
  "UNKNOWN",
  "INVALID_ARGUMENT",
  "DEADLINE_EXCEEDED",
  "NOT_FOUND",
  "ALREADY_EXISTS",
  "PERMISSION_DENIED",
  "RESOURCE_EXHAUSTED",
  "FAILED_PRECONDITION",
  "ABORTED",
  "OUT_OF_RANGE",
  "UNIMPLEMENTED",
  "INTERNAL",
  "UNAVAILABLE",
  "DATA_LOSS",
  "UNAUTHENTICATED",
] as const;

export type GrpcCode = (typeof GRPC_CODES)[number];

/** A failed CRI call. `details` is the runtime's own text. */
export class CriError extends Error {
  override readonly name: string = "CriError";
  constructor(
    readonly verb: string,
    readonly code: GrpcCode,
    readonly details: string,
    /** What the call was about, e.g. "container 4f…"; empty when about the whole runtime. */
    readonly subject: string,
    endpoint: string,
  ) {
    super(describe(verb, code, details, subject, endpoint));
  }
}

/** The runtime answered, but left out what the contract requires. */
export class CriBadReplyError extends CriError {
  override readonly name = "CriBadReplyError";
}

function describe(verb: string, code: GrpcCode, details: string, subject: string, endpoint: string): string {
  const of = subject === "" ? "" : ` of ${subject}`;
  switch (code) {
    case "UNAVAILABLE":
      return `${verb}${of}: no runtime answers at ${endpoint} (${details}); start it or correct containerRuntimeEndpoint`;
    case "DEADLINE_EXCEEDED":
      return `${verb}${of}: the runtime at ${endpoint} did not answer in time (${details})`;
    default:
      return `${verb}${of}: ${details} (${code})`;
  }
}

function hasCode(error: unknown, code: GrpcCode): error is CriError {
  return error instanceof CriError && error.code === code;
}

export const isCriError = (error: unknown): error is CriError => error instanceof CriError;
export const isNotFound = (error: unknown): error is CriError => hasCode(error, "NOT_FOUND");
export const isUnavailable = (error: unknown): error is CriError => hasCode(error, "UNAVAILABLE");
export const isDeadlineExceeded = (error: unknown): error is CriError => hasCode(error, "DEADLINE_EXCEEDED");
export const isCancelled = (error: unknown): error is CriError => hasCode(error, "CANCELLED");
export const isAlreadyExists = (error: unknown): error is CriError => hasCode(error, "ALREADY_EXISTS");
export const isUnimplemented = (error: unknown): error is CriError => hasCode(error, "UNIMPLEMENTED");
