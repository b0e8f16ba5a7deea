// Responses with upstream's texts: plain text, errors with a final newline and no sniffing of the content type.

import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { escapeHtml } from "../../../shared/base/text/escape.js";
import { locationOf, REDIRECT_STATUS } from "../../../shared/io/http/server/clean-path.js";

export const TEXT = "text/plain; charset=utf-8";

/** 200 and the unchanged text. */
export function replyText(response: ServerResponse, body: string | Buffer, contentType = TEXT): void {
  send(response, 200, { "Content-Type": contentType }, body);
}

const NO_SNIFFING = { "X-Content-Type-Options": "nosniff" };

/** 200 and the unchanged text, for clients that must not guess another content type. */
export function replyExact(response: ServerResponse, body: string, contentType = TEXT): void {
  replyAs(response, 200, contentType, body);
}

/** The unchanged text under any status and content type, which clients must not guess otherwise. */
export function replyAs(response: ServerResponse, status: number, contentType: string, body: string): void {
  send(response, status, { "Content-Type": contentType, ...NO_SNIFFING }, body);
}

/** A text under any status: upstream's router writes errors of its handlers so. */
export function replyPlain(
  response: ServerResponse,
  status: number,
  body: string,
  headers: Record<string, string> = {},
): void {
  send(response, status, { ...headers, "Content-Type": TEXT }, body);
}

/** A text in chunks without a content type: upstream has begun such a response before its error. */
export function replyBare(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status);
  response.end(body);
}

/** A Status object of the API. */
export function replyJson(response: ServerResponse, status: number, body: string): void {
  send(response, status, { "Content-Type": "application/json" }, body);
}

/** An error text with a final newline. */
export function replyError(
  response: ServerResponse,
  status: number,
  message: string,
  headers: Record<string, string> = {},
): void {
  send(response, status, { ...headers, "Content-Type": TEXT, ...NO_SNIFFING }, `${message}\n`);
}

/** Nothing is served under this path. */
export function replyNotFound(response: ServerResponse): void {
  replyError(response, 404, "404 page not found");
}

/** The path is below a web service of upstream's router, which has no such path. */
export function replyNoSuchRoute(response: ServerResponse): void {
  replyPlain(response, 404, "404: Page Not Found");
}

/** The client is to send its request to another path, a byte string. Texts are those of Go's server. */
export function replyRedirect(response: ServerResponse, method: string, url: string): void {
  const hasPage = method === "GET" || method === "HEAD";
  const page = method === "GET" ? `<a href="${escapeHtml(url)}">Temporary Redirect</a>.\n\n` : "";
  const type: Record<string, string> = hasPage ? { "Content-Type": "text/html; charset=utf-8" } : {};
  send(response, REDIRECT_STATUS, { ...type, Location: locationOf(url) }, Buffer.from(page, "latin1"));
}

/** The path exists, for other methods: upstream's router sends this response without a newline. */
export function replyMethodNotAllowed(response: ServerResponse, allowed: readonly string[]): void {
  send(response, 405, { "Content-Type": TEXT, Allow: allowed.join(", ") }, "405: Method Not Allowed");
}

function send(response: ServerResponse, status: number, headers: Record<string, string>, body: string | Buffer): void {
  response.writeHead(status, { ...headers, "Content-Length": String(Buffer.byteLength(body)) });
  response.end(body);
}

/**
 * Writes the body of a response piece by piece, as fast as the reader takes it, and ends it; ends early when the reader
 * disconnects. Rejects with an error of `chunks`; the response is then left open.
 */
export async function writeChunks(
  response: ServerResponse,
  chunks: AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>,
): Promise<void> {
  const gone = new AbortController();
  const leave = (): void => gone.abort();
  response.once("close", leave);
  try {
    for await (const chunk of chunks) {
      if (response.destroyed || gone.signal.aborted) return;
      if (!response.write(chunk)) await once(response, "drain", { signal: gone.signal });
    }
    response.end();
  } catch (error) {
    if (!gone.signal.aborted) throw error;
  } finally {
    response.off("close", leave);
  }
}
