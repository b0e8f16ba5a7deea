// The request of a pod's httpGet action, for probes and lifecycle hooks alike: URL, headers and Host as upstream's
// kubelet makes them.

import { isIPv6 } from "node:net";
import { toBytes } from "../bytes.js";
import { escape, UrlError } from "../url-escapes.js";
import { Headers } from "./headers.js";
import type { GetRequest } from "./redirects.js";
import { parseUrl, parseUrlBytes, urlBytes, type GoUrl } from "./url.js";

/** An httpGet action with nothing left to resolve. */
export interface GetAction {
  scheme: "http" | "https";
  /** A name or an address. */
  host: string;
  port: number;
  /** As the pod has it, with its query. */
  path: string;
  headers: readonly { name: string; value: string }[];
}

/** Throws UrlError when the host and the path make no URL. */
export function requestOf({ scheme, host, port, path, headers: given }: GetAction, userAgent: string): GetRequest {
  const address = host.includes(":") || isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`;
  const written = { ...pathUrl(path), scheme, host: toBytes(address) };
  // Written and read once more: a host that makes no URL is found here, not on the wire.
  const url = parseUrlBytes(urlBytes(written));
  const headers = new Headers();
  for (const { name, value } of given) headers.add(name, value);
  if (!headers.has("User-Agent")) headers.set("User-Agent", userAgent);
  if (!headers.has("Accept")) headers.set("Accept", "*/*");
  else if (headers.get("Accept") === "") headers.delete("Accept");
  return { url, host: headers.get("Host"), headers };
}

/** Throws UrlError. A path may hold a query, a fragment, even a whole URL, of which scheme and host are replaced. */
function pathUrl(path: string): GoUrl {
  try {
    return parseUrl(path);
  } catch (error) {
    if (!(error instanceof UrlError)) throw error;
    const asPath = escape(toBytes(path), "path");
    return { scheme: "", opaque: "", user: undefined, host: "", path: asPath, query: undefined, fragment: "" };
  }
}
