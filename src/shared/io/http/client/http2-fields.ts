// The fields of a GET request over HTTP/2 as Go's client writes them (https://pkg.go.dev/golang.org/x/net/http2): the
// names in lower case, none of one connection (RFC 9113, section 8.2.2), a cookie in its parts.

import { quoteBytes } from "../bytes.js";
import { HeaderError, type Headers } from "./headers.js";
import { hostOf, mayAskForGzip, withCredentials, type RequestOptions } from "./request-text.js";
import { requestUri } from "./url.js";

/** Fields that another part of the request has, or that belong to one connection. */
const NOT_SENT = new Set([
  ...["Host", "Content-Length", "Connection", "Proxy-Connection", "Transfer-Encoding", "Upgrade", "Keep-Alive"],
  // Node's client refuses it.
  "Http2-Settings",
]);

/** Pseudo fields come first. All names and values are byte strings. Throws HeaderError for what cannot be sent. */
export function http2Fields({ url, host, headers, acceptsGzip = false }: RequestOptions): Record<string, string[]> {
  checkConnectionFields(headers);
  const authority = hostOf(host === "" ? url.host : host);
  if (authority === undefined) throw new HeaderError("http2: invalid Host header");
  const path = requestUri(url);
  if (!path.startsWith("/")) throw new HeaderError(`http2: invalid request :path ${quoteBytes(path)}`);
  const fields: Record<string, string[]> = {
    ":authority": [authority],
    ":method": ["GET"],
    ":path": [path],
    ":scheme": ["https"],
  };
  const all = withCredentials(url, headers);
  for (const [name, value] of all.fields()) {
    if (!NOT_SENT.has(name))
      (fields[name.toLowerCase()] ??= []).push(...(name === "Cookie" ? cookieParts(value) : [value]));
  }
  const userAgent = headers.has("User-Agent") ? headers.get("User-Agent") : "Go-http-client/2.0";
  if (userAgent === "") delete fields["user-agent"];
  else fields["user-agent"] = [userAgent];
  // Node's client sends no other value.
  if (fields["te"]?.join() !== "trailers") delete fields["te"];
  if (acceptsGzip && mayAskForGzip(headers)) fields["accept-encoding"] = ["gzip"];
  return fields;
}

/** Throws HeaderError for a field that asks something of the connection which HTTP/2 has not. */
function checkConnectionFields(headers: Headers): void {
  const wrong = (name: string, allowed: readonly string[], isList: boolean): void => {
    const values = headers.all(name);
    const [first = ""] = values;
    if (isList && values.length <= 1 && allowed.includes(first.toLowerCase())) return;
    if (!isList && allowed.includes(first)) return;
    const shown = values.slice(0, 8).map((one) => quoteBytes(one));
    throw new HeaderError(`http2: invalid ${name} request header: [${shown.join(" ")}]`);
  };
  wrong("Upgrade", ["", "chunked"], false);
  wrong("Transfer-Encoding", ["", "chunked"], true);
  wrong("Connection", ["", "close", "keep-alive"], true);
}

function cookieParts(value: string): string[] {
  const parts = value.split(";").map((part, at) => (at === 0 ? part : part.replace(/^ +/, "")));
  return parts.at(-1) === "" ? parts.slice(0, -1) : parts;
}
