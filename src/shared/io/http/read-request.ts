// Reads the head of a request, once, before anything else looks at it. HTTP/1's head was read by
// server/request-reader.ts, as Go's server does. HTTP/2's is read here: another scheme, a malformed method, authority
// or path, and a Host header of another host are refused.
// Source: https://pkg.go.dev/net/http#Server, RFC 9112 section 3.2, RFC 9113 section 8.3

import type { IncomingMessage } from "node:http";
import type { IncomingHttpHeaders } from "node:http2";
import { isSameHost, parseHost, type Host } from "./host.js";
import { malformed, noTarget, RefusedRequestError, type Refusal } from "./server/refusal.js";
import { requestHead, type Field, type RequestHead } from "./server/request-head.js";
import { parseTarget, type Scheme, type Target } from "./target.js";

export interface ReadRequest {
  readonly method: string;
  readonly target: Target;
  /** undefined: the client named none, which HTTP/1.0 and HTTP/2 permit. */
  readonly host: Host | undefined;
}

export type Reading =
  | { readonly kind: "request"; readonly request: ReadRequest }
  /** OPTIONS *: it is about the server, and about no resource. */
  | { readonly kind: "server options" }
  | { readonly kind: "refused"; readonly refusal: Refusal };

/** A method of HTTP/2, which no parser has checked. */
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;

/** HTTP/1.0 and HTTP/1.1. @param scheme of the server's own URLs */
export function readHttp1(head: RequestHead, scheme: Scheme): Reading {
  return reading(() => {
    const { method, target: text } = head;
    if (text === "*") return method === "OPTIONS" ? undefined : noTarget();
    const target = targetOf(method, text, scheme);
    const host = head.host === undefined ? undefined : looseHost(head.host);
    if (target.authority !== undefined && host !== undefined && !isSameHost(target.authority, host))
      throw new MalformedRequestError("the request target names another host than the Host header");
    return { method, target, host: host ?? target.authority };
  });
}

/** HTTP/1 on a server whose heads Node's parser reads. What that lets through is refused by the same rules. */
export function readNodeHttp1(
  { method = "", url = "", httpVersionMajor, httpVersionMinor, rawHeaders }: IncomingMessage,
  scheme: Scheme,
): Reading {
  const line = { method, target: url, major: httpVersionMajor, minor: httpVersionMinor };
  const fields: Field[] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) fields.push([rawHeaders[at] ?? "", rawHeaders[at + 1] ?? ""]);
  try {
    return readHttp1(requestHead(line, fields).head, scheme);
  } catch (error) {
    if (!(error instanceof RefusedRequestError)) throw error;
    return { kind: "refused", refusal: error.refusal };
  }
}

/** @param headers with the pseudo-headers; `rawHeaders`: names and values, none of them joined */
export function readHttp2(headers: IncomingHttpHeaders, rawHeaders: readonly string[], scheme: Scheme): Reading {
  return reading(() => {
    const { ":method": method = "", ":path": path = "", ":scheme": named, ":authority": authority } = headers;
    if (!TOKEN.test(method)) throw new MalformedRequestError("malformed method");
    // It has no path, and this server is no proxy.
    if (method === "CONNECT") throw new MalformedRequestError("malformed request target");
    if (named !== scheme) throw new MalformedRequestError("unsupported scheme");
    const pseudo = authority === undefined ? undefined : hostOf(authority);
    if (pseudo?.name === "") throw new MalformedRequestError("the authority names no host");
    const [header, ...others] = valuesOf(rawHeaders, "host").map(hostOf);
    if (others.length > 0) throw new MalformedRequestError("too many Host headers");
    if (pseudo !== undefined && header !== undefined && !isSameHost(pseudo, header))
      throw new MalformedRequestError("the Host header names another host than the authority");
    if (path === "*" && method === "OPTIONS") return undefined;
    if (!path.startsWith("/")) throw new MalformedRequestError("malformed request target");
    const target = targetOf(method, path, scheme);
    return { method, target, host: pseudo ?? header };
  });
}

class MalformedRequestError extends Error {
  override readonly name = "MalformedRequestError";
}

function reading(read: () => ReadRequest | Refusal | undefined): Reading {
  try {
    const request = read();
    if (request === undefined) return { kind: "server options" };
    return "status" in request ? { kind: "refused", refusal: request } : { kind: "request", request };
  } catch (error) {
    if (!(error instanceof MalformedRequestError)) throw error;
    const { message } = error;
    return { kind: "refused", refusal: { ...malformed(message), body: `400 Bad Request: ${message}` } };
  }
}

function targetOf(method: string, text: string, scheme: Scheme): Target {
  // A whole URL, or a host and a port: this server is no proxy.
  const target = method === "CONNECT" && !text.startsWith("/") ? undefined : parseTarget(text, scheme);
  if (target === undefined) throw new MalformedRequestError("malformed request target");
  return target;
}

function hostOf(value: string): Host {
  const host = parseHost(value);
  if (host === undefined) throw new MalformedRequestError("malformed Host header");
  return host;
}

/** Go checks a host's characters only. A text that is no host names no server. */
function looseHost(value: string): Host {
  return parseHost(value) ?? { name: value.toLowerCase(), port: undefined };
}

/** All values of a header, each as its own line had it. Node's `headers` drops or joins repeated ones. */
function valuesOf(rawHeaders: readonly string[], name: string): string[] {
  const values: string[] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const known = rawHeaders[at] ?? "";
    if (known.length === name.length && known.toLowerCase() === name) values.push(rawHeaders[at + 1] ?? "");
  }
  return values;
}
