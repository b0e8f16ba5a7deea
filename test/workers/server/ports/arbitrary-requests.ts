// Arbitrary requests as raw bytes: targets and framings that parsers read differently.

import fc from "fast-check";

/** Pieces that parsers of targets read differently. */
const PIECES = [
  "#",
  "*",
  "?",
  ";",
  "//",
  "/",
  "/../",
  "/./",
  "/..",
  "%2f",
  "%2F",
  "%2e%2e",
  "%23",
  "%3f",
  "%2a",
  "%00",
  "%",
  "%zz",
  "%ff",
];
PIECES.push(
  "%c3%a4",
  "\xe4",
  "\x00",
  "\t",
  "\\",
  "@",
  ":",
  "[",
  "http://",
  "https://node:1",
  "HTTPS://node:1",
  "https://u@node:1",
);
PIECES.push(
  "manifests",
  "MANIFESTS",
  "%6danifests",
  "metrics",
  "m%65trics",
  "logs",
  "pods",
  "exec",
  "stats",
  "/summary",
  "x",
);

/** What may stand in place of a route's first slash, and after its path. */
const BEFORE = [
  "/",
  "*",
  "x",
  "",
  "//",
  "/./",
  "/x/../",
  "%2f",
  "/%2f",
  "https://node:1/",
  "http://node:1/",
  "https://u@node:1/",
];
const AFTER = ["", "#", "#x", "#/../x", "?#", "?x", "/", "//", "/..", ";", ";x", "%23", "%3f", "%00", "%2f..", "*"];

/** @param paths that the server has; ":name" and "*" stand for anything */
export function targetsTo(paths: readonly string[]): fc.Arbitrary<string> {
  const known = fc.constantFrom(...paths).map((path) => path.replaceAll(/:\w+|\*/g, "x"));
  const [piece, before, after] = [
    fc.constantFrom(...PIECES),
    fc.oneof(fc.constant("/"), fc.constantFrom(...BEFORE)),
    fc.constantFrom(...AFTER),
  ];
  return fc.oneof(
    { weight: 4, arbitrary: known },
    {
      weight: 8,
      arbitrary: fc.tuple(before, known, after).map(([first, path, last]) => `${first}${path.slice(1)}${last}`),
    },
    { weight: 2, arbitrary: fc.tuple(known, fc.nat()).map(([path, at]) => respelled(path, at)) },
    { weight: 2, arbitrary: fc.tuple(known, piece, known).map((parts) => parts.join("")) },
    { weight: 1, arbitrary: fc.array(piece, { minLength: 1, maxLength: 6 }).map((parts) => parts.join("")) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 24 }).map((bytes) => Buffer.from(bytes).toString("latin1")) },
  );
}

export const METHODS = fc.constantFrom(
  "GET",
  "GET",
  "GET",
  "GET",
  "GET",
  "GET",
  "POST",
  "PUT",
  "DELETE",
  "PATCH",
  "HEAD",
  "OPTIONS",
  "get",
  "FOO",
  "CONNECT",
);

/** One byte in upper case, or percent-encoded. */
function respelled(path: string, seed: number): string {
  const at = seed % path.length;
  const byte = path.charCodeAt(at);
  const other = seed % 2 === 0 ? path.charAt(at).toUpperCase() : `%${byte.toString(16)}`;
  return `${path.slice(0, at)}${other}${path.slice(at + 1)}`;
}

export const HOST = "Host: node:1\r\n";

/**
 * Ways in which Go's server reads a request of HTTP/1, and other parsers another one. `line`: method and target;
 * `token`: of the request that must be read; `hidden`: another request, which no reading may find.
 */
export const FORMS: readonly ((line: string, token: string, hidden: string) => string)[] = [
  (line, token) => `${line} HTTP/1.1\r\n${HOST}Connection: close\r\nAuthorization: Bearer ${token}\r\n\r\n`,
  (line, token) => `${line} HTTP/1.0\nAuthorization: Bearer ${token}\n\n`,
  (line, token) => `${line} HTTP/1.1\r\n${HOST}Connection: close\nAuthorization:\r\n Bearer\n\t${token}\r\n\n`,
  (line, token) => `${line} HTTP/1.7\r\nhost: node:1\r\nConnection: x, CLOSE\r\nAuthorization: Bearer ${token}\r\n\r\n`,
  (line, token, hidden) =>
    `${line} HTTP/1.1\r\n${HOST}Content-Length: ${hidden.length}\r\nContent-Length: ${hidden.length}\r\nConnection: close\r\nAuthorization: Bearer ${token}\r\n\r\n${hidden}`,
  (line, token, hidden) =>
    `${line} HTTP/1.1\r\n${HOST}Content-Length: 4\r\nTransfer-Encoding: chunked\r\nAuthorization: Bearer ${token}\r\n\r\n0\r\n\r\n${hidden}`,
  (line, token, hidden) =>
    `${line} HTTP/1.0\r\n${HOST}Connection: keep-alive\r\nTransfer-Encoding: chunked\r\nAuthorization: Bearer ${token}\r\n\r\n${hidden}`,
  (line, token, hidden) =>
    `${line} HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\nConnection: close\r\nAuthorization: Bearer ${token}\r\n\r\n${hidden.length.toString(16)};x="\r\n${hidden}\r\n0\r\nX: ${token}\r\n\r\n`,
  (line, token, hidden) =>
    `${line} HTTP/1.1\r\n${HOST}Transfer-Encoding: xchunked\r\nContent-Length: 0\r\nAuthorization: Bearer ${token}\r\n\r\n${hidden}`,
  (line, token, hidden) =>
    `${line} HTTP/1.1\r\n${HOST}Proxy-Connection: close\r\nConnection: close\r\nAuthorization: Bearer ${token}\r\n\r\n${hidden}`,
];
