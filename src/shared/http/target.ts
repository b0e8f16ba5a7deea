// The target of a request, parsed once into the value that is authorised, routed, logged and handled.
// Invariant: nothing decodes the path a second time. A target that is neither origin form ("/pods?x=y") nor a plain URL of this server is
// no target, nor is one with a fragment, a byte outside printable ASCII, or an escape that is none.
// Source: https://www.rfc-editor.org/rfc/rfc9112#section-3.2
import { parseHost, type Host } from "./host.js";

export type Scheme = "http" | "https";

export interface Target {
  /** Decoded; begins with "/". */
  readonly path: string;
  /** As the client wrote it, without "?". */
  readonly query: string;
  /** The authority, if the target is a whole URL. */
  readonly authority: Host | undefined;
}

const PRINTABLE = /^[!-~]+$/;
const ABSOLUTE = /^(https?):\/\/([^/?]+)([/?].*)?$/i;
const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** undefined: the text is no target of a server with this scheme. */
export function parseTarget(text: string, scheme: Scheme): Target | undefined {
  if (!PRINTABLE.test(text) || text.includes("#")) return undefined;
  if (text.startsWith("/")) return pathAndQuery(text, undefined);
  const [, named = "", host = "", rest = ""] = ABSOLUTE.exec(text) ?? [];
  const authority = parseHost(host);
  if (named.toLowerCase() !== scheme || authority === undefined || authority.name === "") return undefined;
  return pathAndQuery(rest, authority);
}

/** The parameters of the query; a malformed one counts as text. */
export function queryOf({ query }: Pick<Target, "query">): URLSearchParams {
  return new URLSearchParams(query);
}

function pathAndQuery(text: string, authority: Host | undefined): Target | undefined {
  const mark = text.indexOf("?");
  const path = decoded(mark < 0 ? text : text.slice(0, mark));
  if (path === undefined) return undefined;
  return { path: path === "" ? "/" : path, query: mark < 0 ? "" : text.slice(mark + 1), authority };
}

/** undefined: an escape is malformed, or the escapes are no UTF-8. */
function decoded(path: string): string | undefined {
  if (!path.includes("%")) return path;
  if (/%(?![\da-f]{2})/i.test(path)) return undefined;
  const bytes = path.replace(/%(..)/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  try {
    return UTF8.decode(Buffer.from(bytes, "latin1"));
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}
