// Answers as upstream words them: plain text, errors with a final newline and no sniffing of the content type.
import type { IncomingMessage, ServerResponse } from "node:http";

const TEXT = "text/plain; charset=utf-8";

/** 200 and the text as it is. */
export function replyText(response: ServerResponse, body: string, contentType = TEXT): void {
  send(response, 200, { "Content-Type": contentType }, body);
}

/** An error text with a final newline. */
export function replyError(
  response: ServerResponse,
  status: number,
  message: string,
  headers: Record<string, string> = {},
): void {
  send(response, status, { ...headers, "Content-Type": TEXT, "X-Content-Type-Options": "nosniff" }, `${message}\n`);
}

/** Nothing is served under this path. */
export function replyNotFound(response: ServerResponse): void {
  replyError(response, 404, "404 page not found");
}

/** The path exists, for other methods: upstream's router answers this one without a newline. */
export function replyMethodNotAllowed(response: ServerResponse, allowed: readonly string[]): void {
  send(response, 405, { "Content-Type": TEXT, Allow: allowed.join(", ") }, "405: Method Not Allowed");
}

function send(response: ServerResponse, status: number, headers: Record<string, string>, body: string): void {
  response.writeHead(status, { ...headers, "Content-Length": String(Buffer.byteLength(body)) });
  response.end(body);
}

/** The query of a request's URL; a malformed one counts as empty. */
export function queryOf(request: IncomingMessage): URLSearchParams {
  const [, query] = splitUrl(request.url ?? "/");
  return new URLSearchParams(query);
}

/** [path, query] of a request target; an absolute form ("http://host/x") is cut to its path. */
export function splitUrl(url: string): [string, string] {
  const target = url.startsWith("/") ? url : url.replace(/^[a-z]+:\/\/[^/]*/i, "");
  const mark = target.indexOf("?");
  return mark < 0 ? [target || "/", ""] : [target.slice(0, mark) || "/", target.slice(mark + 1)];
}
