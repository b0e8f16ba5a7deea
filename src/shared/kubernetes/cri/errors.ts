// Errors of CRI calls: one class per cause that some caller handles. Free of gRPC, so that a thread that only handles
// errors does not load it. The message always names the verb, the object, the endpoint, and the remedy if there is one.

import { messageOf } from "../../base/errors/thrown.js";

/** gRPC status names in the order of their numbers; a status number is an index here. */
export const CRI_CODES = [
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

export type CriCode = (typeof CRI_CODES)[number];

/** The name of a gRPC status number; UNKNOWN for a number that gRPC does not define. */
export function codeName(status: number): CriCode {
  return CRI_CODES[status] ?? "UNKNOWN";
}

export interface CriErrorInit {
  code: CriCode;
  /** The rpc's name, e.g. "RunPodSandbox". */
  verb: string;
  /** The message of the runtime or of gRPC. */
  details: string;
  /** Endpoint as configured. */
  endpoint: string;
  /** The subject of the call, e.g. "container 3f2a…"; empty when it is about the whole runtime. */
  subject?: string;
  cause?: unknown;
}

/** Any failed CRI call. */
export class CriError extends Error {
  override readonly name: string = "CriError";
  readonly code: CriCode;
  readonly verb: string;
  readonly details: string;
  readonly endpoint: string;
  readonly subject: string;

  constructor(init: CriErrorInit, hint = "") {
    const about = init.subject === undefined || init.subject === "" ? "" : ` of ${init.subject}`;
    // A list that comes through a stream fails in upstream's words, for which people search.
    const failed = init.verb.startsWith("Stream") ? "recv failed" : "failed";
    const text = `CRI ${init.verb}${about} ${failed} at ${init.endpoint}: ${init.code}: ${init.details}`;
    super(hint === "" ? text : `${text}; ${hint}`, init.cause === undefined ? undefined : { cause: init.cause });
    this.code = init.code;
    this.verb = init.verb;
    this.details = init.details;
    this.endpoint = init.endpoint;
    this.subject = init.subject ?? "";
  }
}

/** The sandbox, container or image does not exist (any more). */
export class CriNotFoundError extends CriError {
  override readonly name = "CriNotFoundError";
}
/** A message over the size limit, or the runtime is out of something. */
export class CriResourceExhaustedError extends CriError {
  override readonly name = "CriResourceExhaustedError";
}
/** The caller's AbortSignal fired, or the runtime gave the call up. */
export class CriCancelledError extends CriError {
  override readonly name = "CriCancelledError";
}

/** No connection to the runtime, or it was lost during the call: whether the call took effect is then unknown. */
export class CriUnavailableError extends CriError {
  /** By this name another thread knows it (src/shared/thread/errors.ts). */
  static readonly NAME = "CriUnavailableError";
  override readonly name = CriUnavailableError.NAME;

  constructor(init: CriErrorInit) {
    super(init, "check that the container runtime is running and that this is the socket of its CRI service");
  }
}

/** The deadline passed, in the queue or in the runtime. */
export class CriDeadlineExceededError extends CriError {
  override readonly name = "CriDeadlineExceededError";

  constructor(init: CriErrorInit) {
    super(init, "the runtime is slow or stuck on this; runtimeRequestTimeout sets the default deadline");
  }
}

/** The runtime does not have this rpc. */
export class CriUnimplementedError extends CriError {
  override readonly name = "CriUnimplementedError";

  constructor(init: CriErrorInit) {
    super(init, "this runtime (version) does not offer the call");
  }
}

/** The runtime returned OK, but without content that every caller needs. */
export class CriBadReplyError extends CriError {
  override readonly name = "CriBadReplyError";

  constructor(init: Omit<CriErrorInit, "code">) {
    super({ ...init, code: "DATA_LOSS" }, "this is a fault of the runtime");
  }
}

/** containerd and CRI-O report a name in use with codes of other errors; only the text shows it. */
function isNameInUse(details: string): boolean {
  const [name = "", holder] = details.split('" is reserved for "', 2);
  return (name.includes('name "') && holder?.includes('"') === true) || details.includes("name is reserved");
}

/** containerd accepts connections before its CRI service is ready, and returns UNKNOWN until then. */
const STARTING_UP = /^server is not initialized yet/;

/**
 * The class for a status code, independent of the runtime's wording. A name in use is ALREADY_EXISTS; a runtime that
 * is still starting is UNAVAILABLE.
 */
export function criError(init: CriErrorInit): CriError {
  if (init.code === "UNKNOWN" && STARTING_UP.test(init.details)) {
    return new CriUnavailableError({ ...init, code: "UNAVAILABLE" });
  }
  // Older versions of containerd return UNKNOWN, 2.x FAILED_PRECONDITION.
  const isUnspecific = init.code === "UNKNOWN" || init.code === "FAILED_PRECONDITION";
  if (isUnspecific && isNameInUse(init.details)) {
    return new CriError({ ...init, code: "ALREADY_EXISTS" });
  }
  switch (init.code) {
    case "NOT_FOUND":
      return new CriNotFoundError(init);
    case "RESOURCE_EXHAUSTED":
      return new CriResourceExhaustedError(init);
    case "CANCELLED":
      return new CriCancelledError(init);
    case "UNAVAILABLE":
      return new CriUnavailableError(init);
    case "DEADLINE_EXCEEDED":
      return new CriDeadlineExceededError(init);
    case "UNIMPLEMENTED":
      return new CriUnimplementedError(init);
    default:
      return new CriError(init);
  }
}

/** A runtime's error as every kubelet's events show it, so that those who search for the text find it. */
export function grpcText(error: unknown): string {
  if (!(error instanceof CriError)) return messageOf(error);
  const code = error.code.toLowerCase().replace(/(?:^|_)([a-z])/g, (_all, letter: string) => letter.toUpperCase());
  return `rpc error: code = ${code} desc = ${error.details}`;
}
