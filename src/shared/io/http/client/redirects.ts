// Redirects of a GET as Go's http.Client follows them (https://pkg.go.dev/net/http#Client): which response is one, and
// what is sent next.

import { quoteBytes } from "../bytes.js";
import { UrlError } from "../url-escapes.js";
import type { Headers } from "./headers.js";
import type { ReplyHead } from "./reply-reader.js";
import { hostnameOf, parseUrlBytes, resolveUrl, urlBytes, type GoUrl } from "./url.js";

/** Requests in a row. */
export const MAX_REQUESTS = 10;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** Fields that another site must not get. */
const SENSITIVE = [
  "Authorization",
  "Www-Authenticate",
  "Cookie",
  "Cookie2",
  "Proxy-Authorization",
  "Proxy-Authenticate",
];

export interface GetRequest {
  url: GoUrl;
  /** The Host header, a byte string; "" stands for the URL's host. */
  host: string;
  headers: Headers;
}

export interface Redirect {
  /** As the server sent it, a byte string. */
  location: string;
  request: GetRequest;
}

/** The Location header is no URL. */
export class LocationError extends Error {
  override readonly name = "LocationError";
}

/** The request that the response to `last` asks for; undefined if it is no redirect. Throws LocationError. */
export function redirectOf(
  head: Pick<ReplyHead, "status" | "field">,
  first: GetRequest,
  last: GetRequest,
): Redirect | undefined {
  const location = head.field("Location") ?? "";
  if (!REDIRECTS.has(head.status) || location === "") return undefined;
  let url: GoUrl;
  try {
    url = resolveUrl(last.url, location);
  } catch (error) {
    if (!(error instanceof UrlError)) throw error;
    throw new LocationError(`failed to parse Location header ${quoteBytes(location)}: ${error.message}`, {
      cause: error,
    });
  }
  const headers = first.headers.copy();
  if (!staysWithin(hostnameOf(url), hostnameOf(first.url))) for (const name of SENSITIVE) headers.delete(name);
  const referer = refererOf(last.url, url, headers.get("Referer"));
  if (referer !== "") headers.set("Referer", referer);
  // A caller's own Host stays with a relative location.
  const keepsHost = last.host !== "" && last.host !== last.url.host && parseUrlBytes(location).scheme === "";
  return { location, request: { url, host: keepsHost ? last.host : "", headers } };
}

/** The page that is left; "" when it was reached by TLS and the next one is not. */
function refererOf(last: GoUrl, next: GoUrl, explicit: string): string {
  if (last.scheme === "https" && next.scheme === "http") return "";
  return explicit === "" ? urlBytes({ ...last, user: undefined }) : explicit;
}

function staysWithin(host: string, origin: string): boolean {
  const [to, from] = [host.toLowerCase(), origin.toLowerCase()];
  return to === from || (to.endsWith(`.${from}`) && !to.includes(":") && !to.includes("%"));
}
