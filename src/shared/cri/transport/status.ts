// The end of a gRPC call: its status, and which status an end of the HTTP/2 stream without one stands for.
// https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md, doc/http-grpc-status-mapping.md
import { constants, type IncomingHttpHeaders } from "node:http2";
import { codeName, type CriCode } from "../errors.js";

/** A call that did not end with OK. */
export class CallFailedError extends Error {
  override readonly name = "CallFailedError";
  constructor(
    readonly code: CriCode,
    readonly details: string,
    /** The runtime has certainly not begun with it: the call may be repeated. */
    readonly unprocessed = false,
  ) {
    super(`${code}: ${details}`);
  }
}

const BY_HTTP: ReadonlyMap<number, CriCode> = new Map([
  [400, "INTERNAL"],
  [401, "UNAUTHENTICATED"],
  [403, "PERMISSION_DENIED"],
  [404, "UNIMPLEMENTED"],
  [429, "UNAVAILABLE"],
  [502, "UNAVAILABLE"],
  [503, "UNAVAILABLE"],
  [504, "UNAVAILABLE"],
]);

const BY_RESET: ReadonlyMap<number, CriCode> = new Map([
  [constants.NGHTTP2_REFUSED_STREAM, "UNAVAILABLE"],
  [constants.NGHTTP2_CANCEL, "CANCELLED"],
  [constants.NGHTTP2_ENHANCE_YOUR_CALM, "RESOURCE_EXHAUSTED"],
  [constants.NGHTTP2_INADEQUATE_SECURITY, "PERMISSION_DENIED"],
]);

/** The status in the trailers, or in the headers of an answer without a body. undefined: there is none yet. */
export function statusIn(headers: IncomingHttpHeaders): CallFailedError | "ok" | undefined {
  const status = headers["grpc-status"];
  if (status === undefined) return undefined;
  const code = codeName(Number(status));
  return code === "OK" ? "ok" : new CallFailedError(code, decodeMessage(headers["grpc-message"]));
}

/** An answer whose HTTP status is not 200 comes from no gRPC server. */
export function httpFailure(status: number | undefined): CallFailedError | undefined {
  if (status === undefined || status === 200) return undefined;
  return new CallFailedError(BY_HTTP.get(status) ?? "UNKNOWN", `the runtime's answer has HTTP status ${status}`);
}

/** A stream that was reset by the runtime. */
export function resetFailure(http2Code: number): CallFailedError {
  const refused = http2Code === constants.NGHTTP2_REFUSED_STREAM;
  const details = `the runtime ended the call with HTTP/2 error ${http2Code} and without a gRPC status`;
  return new CallFailedError(BY_RESET.get(http2Code) ?? "INTERNAL", details, refused);
}

/** grpc-message is percent-encoded. */
function decodeMessage(text: string | string[] | undefined): string {
  const whole = String(text ?? "");
  try {
    return decodeURIComponent(whole);
  } catch {
    return whole;
  }
}
