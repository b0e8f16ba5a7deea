// Paths as Go's ServeMux cleans them, and where it redirects a client whose path is not clean
// (https://pkg.go.dev/net/http#ServeMux).
// Invariant: a redirect is made of the request's own path and query; nothing is looked up or handled for it.

import type { Target } from "../target.js";
import { escape, escapedForm } from "../url-escapes.js";

/** The status of both redirects of Go 1.26's ServeMux. */
export const REDIRECT_STATUS = 307;

/** A path that has neither "//" nor a dot segment. */
const CLEAN = /^(?:\/(?!\/|\.{1,2}(?:\/|$))[^/]*)+$/;

/** The clean path of a target, escaped; undefined: its path is clean. */
export function cleanedPath({ raw }: Pick<Target, "raw">): string | undefined {
  if (CLEAN.test(raw.path)) return undefined;
  const escaped = escapedForm(raw.path, "path");
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

/** The Location header. `path`: of a URL; Go escapes it once more. */
export function redirectLocation(path: string, { raw }: Pick<Target, "raw">): string {
  const query = raw.query.replace(/[\x80-\xff]/g, (byte) => `%${byte.charCodeAt(0).toString(16)}`);
  return `${escape(path, "path")}${query === "" ? "" : `?${query}`}`;
}
