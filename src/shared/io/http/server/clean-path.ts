// Paths as Go's ServeMux cleans them, and where it redirects a client whose path is not clean
// (https://pkg.go.dev/net/http#ServeMux).
// Invariant: a redirect is made of the request's own path and query; nothing is looked up or handled for it.

import type { Target } from "../target.js";
import { escape, escapedForm } from "../url-escapes.js";

/** The status of both redirects of Go 1.26's ServeMux. */
export const REDIRECT_STATUS = 307;

/** A path that has neither "//" nor a dot segment. */
const CLEAN = /^(?:\/(?!\/|\.{1,2}(?:\/|$))[^/]*)+$/;

/**
 * The clean path of a target, escaped; undefined: its path is clean. An escaped dot is a dot only if another byte of
 * the path should have been escaped, and was not: Go writes such a path anew.
 */
export function cleanedPath({ raw }: Pick<Target, "raw">): string | undefined {
  const escaped = escapedForm(raw.path, "path");
  if (CLEAN.test(escaped)) return undefined;
  const cleaned = clean(escaped);
  return cleaned === escaped ? undefined : cleaned;
}

function clean(path: string): string {
  const kept: string[] = [];
  const segments = path.split("/");
  for (const segment of segments) {
    if (segment === "..") kept.pop();
    else if (segment !== "" && segment !== ".") kept.push(segment);
  }
  const slash = segments.at(-1) === "" && kept.length > 0 ? "/" : "";
  return `/${kept.join("/")}${slash}`;
}

/** Where a client is redirected, a byte string. `path`: of a URL; Go escapes it once more. */
export function redirectUrl(path: string, { raw: { query } }: Pick<Target, "raw">): string {
  return `${escape(path, "path")}${query === "" ? "" : `?${query}`}`;
}

/** The Location header of that URL. */
export const locationOf = (url: string): string =>
  url.replace(/[\x80-\xff]/g, (byte) => `%${byte.charCodeAt(0).toString(16)}`);
