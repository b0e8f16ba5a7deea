// The status of a call, from what its stream brought. The codes and texts are those of grpc-js.

import { Metadata, status as STATUS, type StatusObject } from "@grpc/grpc-js";
import { CODE, StreamError } from "./frames/http2-errors.js";
import type { Field } from "./hpack/static-table.js";

/** Names of HTTP/2's fields: tokens without capital letters. */
const NAME = /^:?[!#$%&'*+.^_`|~0-9a-z-]+$/;
/** No value of a field has them. */
const BREAKS = /[\0\r\n]/;
/** What gRPC's Metadata take. It writes a line with the whole field to the standard error for another one. */
const METADATA_NAME = /^[0-9a-z_.-]+$/;
const METADATA_VALUE = /^[ -~]*$/;

/** Several values of one name are joined, as Node's HTTP/2 does. @throws StreamError for fields that are malformed */
export function metadataOf(fields: readonly Field[]): Metadata {
  const headers: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const { name, value } of fields) {
    if (!NAME.test(name) || BREAKS.test(value)) throw new StreamError(CODE.PROTOCOL_ERROR, "a field is malformed");
    if (!METADATA_NAME.test(name) || !(name.endsWith("-bin") || METADATA_VALUE.test(value))) continue;
    const before = headers[name];
    headers[name] = before === undefined ? value : `${before}, ${value}`;
  }
  return Metadata.fromHttp2Headers(headers);
}

/** The HTTP status of a response: of its first fields. */
export function httpStatusOf(fields: readonly Field[]): number | undefined {
  const value = fields.find(({ name }) => name === ":status")?.value;
  return value === undefined ? undefined : Number(value);
}

export function statusOf(code: STATUS, details: string): StatusObject {
  return { code, details, metadata: new Metadata() };
}

/** The status that the trailers say, or that of HTTP if there is none. */
export function statusOfTrailers(fields: readonly Field[], httpStatus: number | undefined): StatusObject {
  const metadata = metadataOf(fields);
  const [code] = metadata.get("grpc-status");
  if (typeof code === "string") {
    // A code that gRPC does not define is UNKNOWN, as Go has it.
    const [message] = metadata.get("grpc-message");
    metadata.remove("grpc-status");
    metadata.remove("grpc-message");
    return {
      ...statusOf(CODES.get(code) ?? STATUS.UNKNOWN, typeof message === "string" ? decoded(message) : ""),
      metadata,
    };
  }
  if (httpStatus !== undefined) return { ...statusOfHttp(httpStatus), metadata };
  return { code: STATUS.UNKNOWN, details: "No status information received", metadata };
}

/** By the digits of a trailer. */
const CODES: ReadonlyMap<string, STATUS> = new Map(
  Object.values(STATUS)
    .filter((code): code is STATUS => typeof code === "number")
    .map((code) => [String(code), code]),
);

function decoded(message: string): string {
  try {
    return decodeURI(message);
  } catch {
    // Not percent-encoded: it is the text itself.
    return message;
  }
}

const OF_HTTP: ReadonlyMap<number, STATUS> = new Map([
  [400, STATUS.INTERNAL],
  [401, STATUS.UNAUTHENTICATED],
  [403, STATUS.PERMISSION_DENIED],
  [404, STATUS.UNIMPLEMENTED],
  [429, STATUS.UNAVAILABLE],
  [502, STATUS.UNAVAILABLE],
  [503, STATUS.UNAVAILABLE],
  [504, STATUS.UNAVAILABLE],
]);

function statusOfHttp(httpStatus: number): StatusObject {
  return statusOf(OF_HTTP.get(httpStatus) ?? STATUS.UNKNOWN, `Received HTTP status code ${httpStatus}`);
}

/** The status of a stream that ended without trailers. */
export function statusOfReset(code: number, httpStatus: number | undefined): StatusObject {
  switch (code) {
    case CODE.NO_ERROR:
      if (httpStatus !== undefined && httpStatus !== 200) return statusOfHttp(httpStatus);
      return statusOf(STATUS.INTERNAL, "Received RST_STREAM with code 0 (Call ended without gRPC status)");
    case CODE.REFUSED_STREAM:
      return statusOf(STATUS.UNAVAILABLE, "Stream refused by server");
    case CODE.CANCEL:
      return statusOf(STATUS.CANCELLED, "Call cancelled");
    case CODE.ENHANCE_YOUR_CALM:
      return statusOf(STATUS.RESOURCE_EXHAUSTED, "Bandwidth exhausted or memory limit exceeded");
    case CODE.INADEQUATE_SECURITY:
      return statusOf(STATUS.PERMISSION_DENIED, "Protocol not secure enough");
    case CODE.INTERNAL_ERROR:
      return statusOf(STATUS.INTERNAL, "Received RST_STREAM with code 2 (Internal server error)");
    default:
      return statusOf(STATUS.INTERNAL, `Received RST_STREAM with code ${code}`);
  }
}
