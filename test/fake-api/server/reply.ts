// Sends answers: JSON or protobuf (compressed when it is large and the client takes it) or text.

import type { ServerResponse } from "node:http";
import type { Http2ServerResponse } from "node:http2";
import { promisify } from "node:util";
import { constants, gzip } from "node:zlib";
import { PROTOBUF_TYPE } from "../../../src/shared/kubernetes/api/client/call/body.js";
import { ApiError } from "../../../src/workers/apiserver/objects/errors.js";
import type { ApiRequest } from "./body.js";
import { toProtobuf, wantsProtobuf } from "./protobuf.js";

export type ApiResponse = ServerResponse | Http2ServerResponse;

const COMPRESS_FROM = 128 * 1024;
const OFFERED = ["application/json", "application/json;stream=watch", PROTOBUF_TYPE, `${PROTOBUF_TYPE};stream=watch`];
const compress = promisify<Buffer, { level: number }, Buffer>(gzip);

/** Refuses a client that takes neither JSON nor protobuf. */
export function checkAccept(request: ApiRequest): void {
  const accept = request.headers.accept ?? "*/*";
  const takesOne = accept.split(",").some((part) => {
    const [type = "", ...parameters] = part.split(";").map((word) => word.trim());
    const isPlain = !parameters.some((parameter) => parameter.startsWith("as="));
    return isPlain && ["*/*", "application/*", "application/json", PROTOBUF_TYPE].includes(type);
  });
  if (takesOne) return;
  const message = `406: Not Acceptable\n\nAvailable representations: ${OFFERED.join(", ")}`;
  throw new ApiError(406, "NotAcceptable", message, {});
}

/** JSON, or protobuf where the client prefers it. */
export async function sendObject(
  request: ApiRequest,
  response: ApiResponse,
  code: number,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ type: string; bytes: number }> {
  const encoded = wantsProtobuf(request) ? toProtobuf(text) : undefined;
  const type = encoded === undefined ? "application/json" : PROTOBUF_TYPE;
  let body = encoded ?? Buffer.from(text);
  const sent = { type, bytes: body.length };
  const takesGzip = (request.headers["accept-encoding"] ?? "").includes("gzip");
  const isLarge = body.length > COMPRESS_FROM && takesGzip;
  if (isLarge) body = Buffer.from(await compress(body, { level: constants.Z_BEST_SPEED }));
  send(response, code, body, {
    "content-type": type,
    ...(isLarge ? { "content-encoding": "gzip", vary: "Accept-Encoding" } : {}),
    ...headers,
  });
  return sent;
}

export function sendText(response: ApiResponse, code: number, text: string): void {
  send(response, code, Buffer.from(text), { "content-type": "text/plain; charset=utf-8" });
}

export function send(response: ApiResponse, code: number, body: Buffer, headers: Record<string, string>): void {
  if (response.writableEnded || response.destroyed) return;
  const all = { "cache-control": "no-cache, private", "content-length": String(body.length), ...headers };
  (response as ServerResponse).writeHead(code, all);
  (response as ServerResponse).end(body);
}

/** Breaks the connection under an answer. */
export function dropConnection(request: ApiRequest): void {
  if ("stream" in request) request.stream.session?.destroy();
  else request.socket.destroy();
}
