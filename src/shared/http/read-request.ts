// Reads the head of a request, once, before anything else looks at it. What Go's server refuses as ambiguous is refused: another HTTP
// version, no Host or two, a malformed Host, a transfer coding other than one "chunked". Node's parser refuses the rest itself:
// Content-Length that is repeated, malformed or beside Transfer-Encoding.
// Source: https://pkg.go.dev/net/http#Server, RFC 9112 sections 3.2 and 6.1, RFC 9113 section 8.3
import type { IncomingMessage } from "node:http";
import { isSameHost, parseHost, type Host } from "./host.js";
import { parseTarget, type Scheme, type Target } from "./target.js";

export interface ReadRequest {
  readonly method: string;
  readonly target: Target;
  /** undefined: the client named none, which HTTP/1.0 and HTTP/2 permit. */
  readonly host: Host | undefined;
}

export type Reading =
  | { readonly kind: "request"; readonly request: ReadRequest }
  | { readonly kind: "malformed"; readonly why: string };

/** A method of HTTP/2, which no parser has checked. */
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;

/** @param scheme of the server's own URLs */
export function readRequest(message: IncomingMessage, scheme: Scheme): Reading {
  try {
    return {
      kind: "request",
      request: message.headers[":method"] === undefined ? read1(message, scheme) : read2(message, scheme),
    };
  } catch (error) {
    if (error instanceof MalformedRequestError) return { kind: "malformed", why: error.message };
    throw error;
  }
}

class MalformedRequestError extends Error {
  override readonly name = "MalformedRequestError";
}

/** HTTP/1.0 and HTTP/1.1. */
function read1(message: IncomingMessage, scheme: Scheme): ReadRequest {
  const { method = "", httpVersion, url = "" } = message;
  if (httpVersion !== "1.1" && httpVersion !== "1.0") throw new MalformedRequestError("unsupported HTTP version");
  const host = hostOf(valuesOf(message, "host"), httpVersion === "1.1");
  checkTransferCoding(valuesOf(message, "transfer-encoding"), httpVersion);
  const target = targetOf(method, url, scheme);
  if (target.authority !== undefined && host !== undefined && !isSameHost(target.authority, host))
    throw new MalformedRequestError("the request target names another host than the Host header");
  return { method, target, host: host ?? target.authority };
}

/** HTTP/2. */
function read2(message: IncomingMessage, scheme: Scheme): ReadRequest {
  const { ":method": method, ":path": path, ":scheme": named, ":authority": authority } = message.headers;
  const text = (value: string | string[] | undefined): string => (typeof value === "string" ? value : "");
  if (!TOKEN.test(text(method))) throw new MalformedRequestError("malformed method");
  if (text(named) !== scheme) throw new MalformedRequestError("unsupported scheme");
  if (!text(path).startsWith("/")) throw new MalformedRequestError("malformed request target");
  const target = targetOf(text(method), text(path), scheme);
  const pseudo = typeof authority === "string" ? hostOf([authority], true) : undefined;
  if (pseudo?.name === "") throw new MalformedRequestError("the authority names no host");
  const header = hostOf(valuesOf(message, "host"), false);
  if (pseudo !== undefined && header !== undefined && !isSameHost(pseudo, header))
    throw new MalformedRequestError("the Host header names another host than the authority");
  return { method: text(method), target, host: pseudo ?? header };
}

function targetOf(method: string, text: string, scheme: Scheme): Target {
  // Its target is a host and a port, and this server is no proxy.
  const target = method === "CONNECT" ? undefined : parseTarget(text, scheme);
  if (target === undefined) throw new MalformedRequestError("malformed request target");
  return target;
}

function hostOf(values: readonly string[], needed: boolean): Host | undefined {
  const [value] = values;
  if (values.length > 1) throw new MalformedRequestError("too many Host headers");
  if (value === undefined) {
    if (needed) throw new MalformedRequestError("missing required Host header");
    return undefined;
  }
  const host = parseHost(value);
  if (host === undefined) throw new MalformedRequestError("malformed Host header");
  return host;
}

/** HTTP/1.0 has no transfer codings: a proxy before this server might have read the body differently. */
function checkTransferCoding(values: readonly string[], httpVersion: string): void {
  const [coding] = values;
  if (coding === undefined) return;
  if (httpVersion !== "1.1" || values.length > 1 || coding.toLowerCase() !== "chunked")
    throw new MalformedRequestError("unsupported transfer encoding");
}

/** All values of a header, each as its own line had it. Node's `headers` drops or joins repeated ones. */
function valuesOf({ rawHeaders }: IncomingMessage, name: string): string[] {
  const values: string[] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const known = rawHeaders[at] ?? "";
    if (known.length === name.length && known.toLowerCase() === name) values.push(rawHeaders[at + 1] ?? "");
  }
  return values;
}
