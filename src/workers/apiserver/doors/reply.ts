// Responses: JSON, other bodies, and the refusal of a request as a Status.

import type { ServerResponse } from "node:http";
import { errorText } from "../../../shared/telemetry/log/error-text.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import { BodyError } from "../../server/http/whole-body.js";
import { ApiError, internalError } from "../objects/errors.js";

const JSON_TYPE = "application/json";

export function sendJson(
  response: ServerResponse,
  code: number,
  text: string,
  headers: Readonly<Record<string, string | string[]>> = {},
): void {
  send(response, code, text, { "content-type": JSON_TYPE, ...headers });
}

export function send(
  response: ServerResponse,
  code: number,
  body: string | Uint8Array,
  headers: Readonly<Record<string, string | string[]>>,
): void {
  if (response.writableEnded || response.destroyed) return;
  const length = String(Buffer.byteLength(body));
  response.writeHead(code, { "cache-control": "no-cache, private", "content-length": length, ...headers });
  response.end(body);
}

/** Warning headers: kubectl prints the texts between the quotes. */
export function warningHeaders(texts: readonly string[]): Record<string, string[]> {
  if (texts.length === 0) return {};
  return { warning: texts.map((text) => `299 - ${JSON.stringify(text.replace(/[^\x20-\x7e]/g, "?"))}`) };
}

/** Any error as a Status; one that no rule expects is also a line of the log. */
export function sendError(response: ServerResponse, error: unknown, log: Pick<Logger, "error">): void {
  const refusal = refusalOf(error);
  if (refusal.code === 500 && !(error instanceof ApiError))
    log.error({ err: error }, `a request failed: ${errorText(error)}`);
  if (response.headersSent) {
    response.destroy();
    return;
  }
  sendJson(response, refusal.code, JSON.stringify(refusal.toStatus()), warningHeaders(refusal.warnings));
}

function refusalOf(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof BodyError) {
    const { code, reason, message } = error.refusal;
    return new ApiError(code, reason, message);
  }
  return internalError(errorText(error));
}
