// The server that a URL names for a request: scheme, host and port. Errors have the texts of Go's transport.

import { quote } from "../../../base/text/quote.js";
import { fromBytes } from "../bytes.js";
import { UrlError } from "../url-escapes.js";
import { hostnameOf, portTextOf, type GoUrl } from "./url.js";

export interface Server {
  scheme: "http" | "https";
  /** A name or an address, without brackets. */
  host: string;
  port: number;
}

const PORTS = { http: 80, https: 443 };
const LAST_PORT = 65_535;

/** Throws UrlError. */
export function serverOf(url: GoUrl): Server {
  const { scheme } = url;
  if (scheme !== "http" && scheme !== "https") {
    throw new UrlError(`unsupported protocol scheme ${quote(fromBytes(scheme))}`);
  }
  if (url.host === "") throw new UrlError("http: no Host in request URL");
  const text = portTextOf(url);
  const port = text === "" ? PORTS[scheme] : Number(text);
  if (port > LAST_PORT) throw new UrlError(`dial tcp: address ${text}: invalid port`);
  return { scheme, host: fromBytes(hostnameOf(url)), port };
}
