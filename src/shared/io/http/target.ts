// The target of a request, parsed once into the value that is authorised, routed, logged and handled.
// Invariant: nothing decodes the path a second time. A target that is neither origin form ("/pods?x=y") nor a plain URL
// of this server is no target, nor is one with a fragment, a control character, a blank, or an escape that is none. A
// path that is no UTF-8 names nothing.
// Source: https://www.rfc-editor.org/rfc/rfc9112#section-3.2

import { fromBytes } from "./bytes.js";
import { parseHost, type Host } from "./host.js";
import { unescape } from "./url-escapes.js";

export type Scheme = "http" | "https";

export interface Target {
  /** Decoded; begins with "/". Bytes that are no UTF-8 are U+FFFD. */
  readonly path: string;
  /** False: no route has this path. */
  readonly isUtf8: boolean;
  /** Segments of the path, each decoded. One with an escaped slash holds that slash. */
  readonly segments: readonly string[];
  /** Without "?". Its escapes are as the client wrote them. */
  readonly query: string;
  /** Path and query as the client wrote them, byte strings; the path may be empty. */
  readonly raw: { readonly path: string; readonly query: string };
  /** The authority, if the target is a whole URL. */
  readonly authority: Host | undefined;
}

const GRAPHIC = /^[!-~\x80-\xff]+$/;
const ABSOLUTE = /^(https?):\/\/([^/?]+)([/?].*)?$/i;

/** @param text a byte string. @returns undefined: the text is no target of a server with this scheme */
export function parseTarget(text: string, scheme: Scheme): Target | undefined {
  if (!GRAPHIC.test(text) || text.includes("#")) return undefined;
  if (text.startsWith("/")) return pathAndQuery(text, undefined);
  const [, named = "", host = "", rest = ""] = ABSOLUTE.exec(text) ?? [];
  const authority = parseHost(host);
  if (named.toLowerCase() !== scheme || authority === undefined || authority.name === "") return undefined;
  return pathAndQuery(rest, authority);
}

/**
 * The parameters of the query as Go's net/url reads them: one with a semicolon, or with an escape that is none, is left
 * out, and a further "?" at the beginning is a part of the first name.
 */
export function queryOf({ query }: Pick<Target, "query">): URLSearchParams {
  if (!/[;%]|^\?/.test(query)) return new URLSearchParams(query);
  const read = query.split("&").filter((parameter) => !/;|%(?![\da-f]{2})/i.test(parameter));
  return new URLSearchParams(`&${read.join("&")}`);
}

function pathAndQuery(text: string, authority: Host | undefined): Target | undefined {
  const mark = text.indexOf("?");
  const raw = { path: mark < 0 ? text : text.slice(0, mark), query: mark < 0 ? "" : text.slice(mark + 1) };
  if (/%(?![\da-f]{2})/i.test(raw.path)) return undefined;
  const { segments, isUtf8 } = pathSegments(raw.path);
  return { path: `/${segments.join("/")}`, segments, isUtf8, query: fromBytes(raw.query), raw, authority };
}

/** The segments of a path, a byte string with well-formed escapes, each decoded. */
export function pathSegments(path: string): { segments: readonly string[]; isUtf8: boolean } {
  let isUtf8 = true;
  const segments = path
    .slice(1)
    .split("/")
    .map((segment) => {
      if (!/[%\x80-\xff]/.test(segment)) return segment;
      const bytes = Buffer.from(unescape(segment), "latin1");
      const text = bytes.toString("utf8");
      if (!Buffer.from(text, "utf8").equals(bytes)) isUtf8 = false;
      return text;
    });
  return { segments, isUtf8 };
}
