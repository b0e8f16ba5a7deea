// The text of a GET request as Go's net/http writes it (https://pkg.go.dev/net/http#Request.Write), for a connection
// that is used once.

import { fromBytes, isAscii, trimBlanks } from "../bytes.js";
import { HeaderError, hasToken, type Headers } from "./headers.js";
import { punycodeHost } from "./punycode.js";
import { requestUri, type GoUrl } from "./url.js";

/** Fields of the caller that the client writes by itself, or must not write. */
const OWN = new Set(["Host", "User-Agent", "Content-Length", "Transfer-Encoding", "Trailer"]);
/** Bytes of a host or address with port; everything else is sent as an empty Host. */
const HOST = /^[A-Za-z0-9!$%&()*+\-.:;=['\]_~,]*$/;

export interface RequestOptions {
  url: GoUrl;
  /** The Host header, a byte string; "" stands for the URL's host. */
  host: string;
  headers: Headers;
  /** The client understands a compressed body. */
  acceptsGzip?: boolean;
}

/** A byte string. Throws HeaderError for what cannot be sent. */
export function requestText({ url, host, headers, acceptsGzip = false }: RequestOptions): string {
  const uri = requestUri(url);

  if (/[\x00-\x1f\x7f]/.test(uri)) throw new HeaderError("net/http: can't write control character in Request.URL");
  const lines = [`GET ${uri} HTTP/1.1`, `Host: ${hostOf(host === "" ? url.host : host) ?? ""}`];
  const fields = [...withCredentials(url, headers).fields()];
  const userAgent = headers.has("User-Agent") ? headers.get("User-Agent") : "Go-http-client/1.1";
  if (userAgent !== "") lines.push(`User-Agent: ${trimBlanks(userAgent)}`);
  for (const [name, value] of fields) if (!OWN.has(name)) lines.push(`${name}: ${trimBlanks(value)}`);
  if (acceptsGzip && mayAskForGzip(headers)) lines.push("Accept-Encoding: gzip");
  if (mustAskToClose(headers)) lines.push("Connection: close");
  return `${lines.join("\r\n")}\r\n\r\n`;
}

/** User and password of the URL are basic authorization, unless the caller has one of its own. */
export function withCredentials({ user }: GoUrl, headers: Headers): Headers {
  if (user === undefined || headers.get("Authorization") !== "") return headers;
  const all = headers.copy();
  const pair = Buffer.from(`${user.name}:${user.password ?? ""}`, "latin1");
  all.set("Authorization", `Basic ${pair.toString("base64")}`);
  return all;
}

/** A caller that asks for an encoding, or for a part, decodes the body by itself. */
export const mayAskForGzip = (headers: Headers): boolean =>
  headers.get("Accept-Encoding") === "" && headers.get("Range") === "";

function mustAskToClose(headers: Headers): boolean {
  const connection = headers.all("Connection");
  if (hasToken(connection, "close")) return false;
  return headers.get("Upgrade") === "" || !hasToken(connection, "upgrade");
}

/** The Host as it is sent; undefined for a text that is not a host. */
export function hostOf(host: string): string | undefined {
  const ascii = isAscii(host) ? host : asciiHost(fromBytes(host));
  if (!HOST.test(ascii)) return undefined;
  // The zone of an address means nothing to the server.
  return ascii.replace(/^\[([^\]%]*)%[^\]]*\]/, "[$1]");
}

/** Names in other scripts are sent in Punycode (RFC 3492). */
function asciiHost(host: string): string {
  const [, name = host, port = ""] = /^([^:]*)(:[0-9]*)?$/.exec(host) ?? [];
  const ascii = punycodeHost(name);
  if (ascii === undefined) throw new HeaderError("idna: invalid label");
  return ascii + port;
}
