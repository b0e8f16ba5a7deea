// URLs as Go's net/url reads and writes them (https://pkg.go.dev/net/url): probes, hooks and their redirects are
// requests of that client. WHATWG's URL class differs: it normalises hosts, resolves dots in every path, and escapes
// other characters.
// Invariant: all parts are byte strings (bytes.ts), `path` and `fragment` in their escaped form.

import { isIPv6 } from "node:net";
import { fromBytes, quoteBytes, toBytes } from "../bytes.js";
import { escape, escapedForm, UrlError, unescape, unescapeHost, unescapeZone, VALID_USER } from "../url-escapes.js";

export interface GoUrl {
  /** In lower case; "" if absent. */
  scheme: string;
  /** What follows the scheme of a URL without "/", such as "mailto:x"; else "". */
  opaque: string;
  user: UserInfo | undefined;
  /** HOST or HOST:PORT. */
  host: string;
  path: string;
  /** As given, without "?"; undefined if absent. */
  query: string | undefined;
  /** "" if absent. */
  fragment: string;
}

interface UserInfo {
  name: string;
  password: string | undefined;
}

/** Bytes of a URL, more than servers accept: a pod's path may have a megabyte, and each probe reads it. */
export const MAX_BYTES = 64 * 1024;

/** Throws UrlError. */
export const parseUrl = (text: string): GoUrl => parseUrlBytes(toBytes(text));

/** Reads a byte string, which need not be UTF-8: a Location header is one. Throws UrlError. */
export function parseUrlBytes(bytes: string): GoUrl {
  if (bytes.length > MAX_BYTES) throw new UrlError(`the URL has more than ${MAX_BYTES} bytes`);
  const [whole, fragment = ""] = cut(bytes, "#");
  const url = named(whole, () => parse(whole));
  return { ...url, fragment: named(bytes, () => escapedForm(fragment, "fragment")) };
}

function named<T>(bytes: string, parsePart: () => T): T {
  try {
    return parsePart();
  } catch (error) {
    if (!(error instanceof UrlError)) throw error;
    throw new UrlError(`parse ${quoteBytes(bytes)}: ${error.message}`, { cause: error });
  }
}

function parse(whole: string): GoUrl {
  if (/[\x00-\x1f\x7f]/.test(whole)) throw new UrlError("net/url: invalid control character in URL");
  const url: GoUrl = { scheme: "", opaque: "", user: undefined, host: "", path: "", query: undefined, fragment: "" };
  if (whole === "*") return { ...url, path: "*" };
  const [scheme, afterScheme] = splitScheme(whole);
  url.scheme = scheme.toLowerCase();
  const [hierarchy, query] = cut(afterScheme, "?");
  // "x?" has an empty query, "x" has none.
  url.query = query;
  if (!hierarchy.startsWith("/")) {
    if (scheme !== "") return { ...url, opaque: hierarchy };
    if (/^[^/]*:/.test(hierarchy)) {
      throw new UrlError("first path segment in URL cannot contain colon");
    }
  }
  const hasAuthority = hierarchy.startsWith("//") && (scheme !== "" || !hierarchy.startsWith("///"));
  let path = hierarchy;
  if (hasAuthority) {
    const slash = hierarchy.indexOf("/", 2);
    const authority = slash < 0 ? hierarchy.slice(2) : hierarchy.slice(2, slash);
    path = slash < 0 ? "" : hierarchy.slice(slash);
    ({ user: url.user, host: url.host } = parseAuthority(authority, url.scheme));
  }
  return { ...url, path: escapedForm(path, "path") };
}

function splitScheme(text: string): [scheme: string, rest: string] {
  if (text.startsWith(":")) throw new UrlError("missing protocol scheme");
  const scheme = /^[a-zA-Z][a-zA-Z0-9+.-]*(?=:)/.exec(text)?.[0];
  return scheme === undefined ? ["", text] : [scheme, text.slice(scheme.length + 1)];
}

function parseAuthority(authority: string, scheme: string): { user: UserInfo | undefined; host: string } {
  const at = authority.lastIndexOf("@");
  const host = parseHost(authority.slice(at + 1), scheme);
  if (at < 0) return { user: undefined, host };
  const userInfo = authority.slice(0, at);
  if (!VALID_USER.test(userInfo)) throw new UrlError("net/url: invalid userinfo");
  const [name, password] = cut(userInfo, ":");
  return { user: { name: unescape(name), password: password === undefined ? undefined : unescape(password) }, host };
}

function parseHost(host: string, scheme: string): string {
  const open = host.lastIndexOf("[");
  if (open > 0) throw new UrlError("invalid IP-literal");
  if (open === 0) return parseLiteral(host);
  const colon = host.indexOf(":");
  if (colon >= 0) {
    const strict = scheme === "http" || scheme === "https";
    checkPort(host.slice(strict ? colon : host.lastIndexOf(":")));
  }
  return unescapeHost(host);
}

/** "[fd00::1]:80", "[fe80::1%25eth0]" */
function parseLiteral(host: string): string {
  const close = host.lastIndexOf("]");
  if (close < 0) throw new UrlError("missing ']' in host");
  const port = host.slice(close + 1);
  checkPort(port);
  const inside = host.slice(1, close);
  const zoneAt = inside.indexOf("%25");
  const zone = zoneAt < 0 ? "" : unescapeZone(inside.slice(zoneAt));
  const address = unescapeHost(zoneAt < 0 ? inside : inside.slice(0, zoneAt));
  if (!isIPv6(address) || zone === "%") throw new UrlError(`invalid host: ParseAddr(${quoteBytes(address + zone)})`);
  return `[${address}${zone}]${port}`;
}

function checkPort(port: string): void {
  if (!/^(?::[0-9]*)?$/.test(port)) throw new UrlError(`invalid port ${quoteBytes(port)} after host`);
}

function cut(text: string, separator: string): [before: string, after: string | undefined] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + separator.length)];
}

/** The URL that a reference, such as a Location header, names from `base`; a byte string. Throws UrlError. */
export function resolveUrl(base: GoUrl, reference: string): GoUrl {
  const ref = parseUrlBytes(reference);
  if (ref.scheme !== "" || ref.host !== "" || ref.user !== undefined) {
    return { ...ref, scheme: ref.scheme === "" ? base.scheme : ref.scheme, path: resolvePath(ref.path, "") };
  }
  const isSame = ref.path === "" && ref.query === undefined;
  return {
    scheme: base.scheme,
    opaque: "",
    user: base.user,
    host: base.host,
    path: resolvePath(base.path, ref.path),
    // An empty query is not inherited.
    query: isSame ? (base.query === "" ? undefined : base.query) : ref.query,
    fragment: isSame && ref.fragment === "" ? base.fragment : ref.fragment,
  };
}

/** Dots resolved, as RFC 3986 has it; begins with "/" unless it is empty. */
function resolvePath(base: string, ref: string): string {
  const full = ref === "" ? base : ref.startsWith("/") ? ref : base.slice(0, base.lastIndexOf("/") + 1) + ref;
  if (full === "") return "";
  const segments = full.split("/");
  const kept: string[] = [];
  for (const segment of segments) {
    if (segment === "..") kept.pop();
    else if (segment !== ".") kept.push(segment);
    // Back at the root, an empty segment before the next one is left out, as in Go.
    if (segment === ".." && kept.length === 1 && kept[0] === "") kept.pop();
  }
  const last = segments.at(-1);
  const path = `/${kept.join("/")}${last === "." || last === ".." ? "/" : ""}`;
  return path.startsWith("//") ? path.slice(1) : path;
}

/** The whole URL, a byte string. */
export function urlBytes({ scheme, opaque, user, host, path, query, fragment }: GoUrl, secret?: string): string {
  const start = scheme === "" ? "" : `${scheme}:`;
  const tail = `${query === undefined ? "" : `?${query}`}${fragment === "" ? "" : `#${fragment}`}`;
  if (opaque !== "") return start + opaque + tail;
  const hasHost = host !== "" || user !== undefined;
  const authority = hasHost ? `//${user === undefined ? "" : `${userText(user, secret)}@`}${escape(host, "host")}` : "";
  const slash = path !== "" && !path.startsWith("/") && host !== "" ? "/" : "";
  return start + authority + slash + path + tail;
}

/** The URL as a person reads it; a password is "***". */
export const urlText = (url: GoUrl): string => fromBytes(urlBytes(url, "***"));

function userText({ name, password }: UserInfo, secret: string | undefined): string {
  const shown = password === undefined ? "" : `:${secret ?? escape(password, "user")}`;
  return escape(name, "user") + shown;
}

/** What the request line holds: path and query. */
export function requestUri({ scheme, opaque, path, query }: GoUrl): string {
  const target = opaque === "" ? path || "/" : opaque.startsWith("//") ? `${scheme}:${opaque}` : opaque;
  return query === undefined ? target : `${target}?${query}`;
}

/** The host without its port and brackets. */
export function hostnameOf({ host }: Pick<GoUrl, "host">): string {
  return withoutPort(host).replace(/^\[(.*)\]$/, "$1");
}

/** The port as text; "" if none is named. */
export const portTextOf = ({ host }: Pick<GoUrl, "host">): string => /:([0-9]*)$/.exec(host)?.[1] ?? "";

const withoutPort = (host: string): string => host.replace(/:[0-9]*$/, "");
