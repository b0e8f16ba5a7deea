// Request bodies: their size, their media type, their form.

import type { IncomingMessage } from "node:http";
import type { Http2ServerRequest } from "node:http2";
import { parse } from "yaml";
import { PROTOBUF_TYPE } from "../../../src/shared/kubernetes/api/client/call/body.js";
import { ApiError, badRequest, unsupportedMediaType } from "../../../src/workers/apiserver/objects/errors.js";
import { isFields, type ApiObject } from "../../../src/workers/apiserver/objects/object.js";
import { fromProtobuf } from "./protobuf.js";

const LIMIT = 3 * 1024 * 1024;
const BODY_TYPES = ["application/json", "application/yaml"];

export type ApiRequest = IncomingMessage | Http2ServerRequest;

export function mediaType(request: ApiRequest): string {
  return (request.headers["content-type"] ?? "application/json").split(";")[0]?.trim().toLowerCase() ?? "";
}

export async function readBody(request: ApiRequest): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= LIMIT) chunks.push(chunk);
  }
  if (size > LIMIT) throw new ApiError(413, "RequestEntityTooLarge", `Request entity too large: limit is ${LIMIT}`);
  return Buffer.concat(chunks);
}

/** The body as a tree of JSON; undefined when there is none. */
export function parseBody(bytes: Buffer, type: string): unknown {
  if (bytes.length === 0) return undefined;
  if (type === PROTOBUF_TYPE) return fromProtobuf(bytes);
  if (!BODY_TYPES.includes(type) && !type.endsWith("+json")) throw unsupportedMediaType(BODY_TYPES);
  const text = bytes.toString("utf8");
  try {
    return type === "application/yaml" ? (parse(text) as unknown) : (JSON.parse(text) as unknown);
  } catch (error) {
    throw badRequest(`the request body is no ${type}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

export function objectBody(body: unknown): ApiObject {
  if (!isFields(body)) throw badRequest("the request body is no object");
  const metadata = isFields(body["metadata"]) ? body["metadata"] : {};
  return { ...body, metadata: { ...metadata, name: metadata["name"] ?? "" } } as unknown as ApiObject;
}
