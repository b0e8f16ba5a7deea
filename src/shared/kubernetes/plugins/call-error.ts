// Errors of calls to a node plugin: it returned a gRPC status, or could not be reached. Free of gRPC.

/** gRPC status numbers that callers compare (grpc.io/docs/guides/status-codes). */
export const STATUS = {
  CANCELLED: 1,
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  RESOURCE_EXHAUSTED: 8,
  FAILED_PRECONDITION: 9,
  ABORTED: 10,
  OUT_OF_RANGE: 11,
  UNIMPLEMENTED: 12,
  INTERNAL: 13,
  UNAVAILABLE: 14,
} as const;

/** Names as Go's gRPC prints them, in the order of their numbers. */
const NAMES = [
  "OK",
  "Canceled",
  "Unknown",
  "InvalidArgument",
  "DeadlineExceeded",
  "NotFound",
  "AlreadyExists",
  "PermissionDenied",
  "ResourceExhausted",
  "FailedPrecondition",
  "Aborted",
  "OutOfRange",
  "Unimplemented",
  "Internal",
  "Unavailable",
  "DataLoss",
  "Unauthenticated",
];

export function statusName(code: number): string {
  return NAMES[code] ?? "Unknown";
}

/**
 * For these, volume plugins do not distinguish "not begun" from "perhaps done": the call must be repeated or undone.
 */
const UNCERTAIN: ReadonlySet<number> = new Set([
  STATUS.CANCELLED,
  STATUS.DEADLINE_EXCEEDED,
  STATUS.UNAVAILABLE,
  STATUS.RESOURCE_EXHAUSTED,
  STATUS.ABORTED,
]);

/** A plugin refused, failed, or was not reached. */
export class PluginCallError extends Error {
  override readonly name = "PluginCallError";
  constructor(
    /** The rpc: "NodePublishVolume". */
    readonly method: string,
    readonly socket: string,
    /** gRPC status number. */
    readonly code: number,
    readonly details: string,
    options?: ErrorOptions,
  ) {
    super(`${method} at ${socket}: rpc error: code = ${statusName(code)} desc = ${details}`, options);
  }

  /** The plugin may have executed the call, or may still do so. */
  get uncertain(): boolean {
    return UNCERTAIN.has(this.code);
  }
}
