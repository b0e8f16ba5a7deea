// What Go's net/http answers to a request that it does not hand to a handler (https://pkg.go.dev/net/http#Server). The
// connection ends with it.

export interface Refusal {
  readonly status: number;
  /** Text of the status line after the code. */
  readonly reason: string;
  readonly body: string;
  /** For the log. */
  readonly why: string;
}

/** The request is refused. */
export class RefusedRequestError extends Error {
  override readonly name = "RefusedRequestError";
  constructor(readonly refusal: Refusal) {
    super(refusal.why);
  }
}

/** The bytes are no request. */
export const malformed = (why: string): Refusal => ({
  status: 400,
  reason: "Bad Request",
  body: "400 Bad Request",
  why,
});

/** "*" in place of a target, which only OPTIONS has. */
export const noTarget = (): Refusal => ({ ...malformed("malformed request target"), body: "" });

/** The bytes are a request that breaks a rule, which the response names. */
export const badRequest = (rule: string): Refusal => named(400, "Bad Request", rule);

export const unsupportedVersion = (): Refusal =>
  named(505, "HTTP Version Not Supported", "unsupported protocol version");

export const unsupportedCoding = (why: string): Refusal => ({
  status: 501,
  reason: "Not Implemented",
  body: "Unsupported transfer encoding",
  why,
});

export const headTooLarge = (why: string): Refusal => bare(431, "Request Header Fields Too Large", why);

/** Go closes the connection without a word. */
export const headTooLate = (): Refusal =>
  bare(408, "Request Timeout", "the head of the request did not arrive in time");

function bare(status: number, reason: string, why: string): Refusal {
  return { status, reason, body: `${status} ${reason}`, why };
}

function named(status: number, reason: string, rule: string): Refusal {
  return { status, reason: `${reason}: ${rule}`, body: `${status} ${reason}: ${rule}`, why: rule };
}
