// The head of an HTTP/1 request as a value, and the rules that Go's server has for it: which heads are refused, and
// where the body ends.
// Invariant: there is one reading of a body's end. Transfer-Encoding wins over Content-Length, and after a request with
// both, or with a coding that its version does not have, the connection ends: a proxy before this server may have read
// it differently.
// Source: https://pkg.go.dev/net/http#Server, RFC 9112 sections 3.2 and 6

import { quoteBytes, trimBlanks } from "../bytes.js";
import { canonicalName } from "../field-name.js";
import {
  badRequest,
  malformed,
  noTarget,
  RefusedRequestError,
  unsupportedCoding,
  unsupportedVersion,
  type Refusal,
} from "./refusal.js";
import type { RequestLine } from "./request-line.js";

/** Name and value, byte strings, as the client wrote them but for folds and blanks. */
export type Field = readonly [name: string, value: string];

type Framing =
  | { readonly kind: "none" }
  | { readonly kind: "length"; readonly bytes: number; readonly digits: string }
  | { readonly kind: "chunked" };

export interface RequestHead {
  readonly kind: "head";
  readonly method: string;
  /** A byte string. */
  readonly target: string;
  /** HTTP/1.0 or a later 1.x, which counts as 1.1. */
  readonly version: "1.0" | "1.1";
  /** Value of the Host header; undefined: there is none. */
  readonly host: string | undefined;
  readonly framing: Framing;
  /** No request follows on the connection. */
  readonly closes: boolean;
  /** The protocol that the client asks for; undefined: none, or the request has a body. */
  readonly upgrade: string | undefined;
  readonly expects: "nothing" | "continue" | "unknown";
}

const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const HOST = /^[0-9A-Za-z!$%&()*+,\-.:;=[\]'_~]*$/;
/**
 * What they say is in other members of RequestHead. The last two say nothing here, but Node's parser takes one for
 * Connection.
 */
const HOP_NAMES = [
  ...(["connection", "content-length", "transfer-encoding", "expect"] as const),
  ...(["upgrade", "trailer", "host", "keep-alive", "proxy-connection"] as const),
] as const;
type HopField = (typeof HOP_NAMES)[number];
const HOP_FIELDS: ReadonlySet<string> = new Set(HOP_NAMES);
const NONE: readonly string[] = [];
const MAX_LENGTH = 2n ** 63n - 1n;
const NOT_IN_TRAILER = new Set(["Transfer-Encoding", "Trailer", "Content-Length"]);

export interface WholeHead {
  readonly head: RequestHead;
  /** All others than Host and those that say where the body and the connection end. */
  readonly fields: readonly Field[];
}

/** @throws RefusedRequestError */
export function requestHead(line: RequestLine, given: readonly Field[]): WholeHead {
  const { method, target, major, minor } = line;
  const { fields, hop } = sorted(given);
  const hosts = hop("host");
  if (hosts.length > 1) throw refused(malformed("too many Host headers"));
  const is11 = major > 1 || (major === 1 && minor >= 1);
  const codings = hop("transfer-encoding");
  const isChunked = is11 && hasChunks(codings);
  const digits = contentLength(hop("content-length"));
  if (isChunked) checkTrailerNames(hop("trailer"));
  if (major !== 1) throw refused(isPreface(line) ? noTarget() : unsupportedVersion());
  checkHead(line, hosts, fields, is11);
  const framing = framingOf(isChunked, digits);
  const connection = hop("connection");
  const closes = is11 ? hasToken(connection, "close") : !hasToken(connection, "keep-alive");
  const isUncertain = codings.length > 0 && (!is11 || digits !== undefined);
  const hasBody = framing.kind !== "none";
  const [upgrade = ""] = hop("upgrade");
  const head: RequestHead = {
    kind: "head",
    method,
    target,
    version: is11 ? "1.1" : "1.0",
    host: hosts[0],
    framing,
    closes: closes || isUncertain || method === "CONNECT",
    upgrade: !hasBody && upgrade !== "" && hasToken(connection, "upgrade") ? upgrade : undefined,
    expects: expectationOf(hop("expect")[0], is11 && hasBody),
  };
  return { head, fields };
}

function sorted(given: readonly Field[]): { fields: Field[]; hop: (name: HopField) => readonly string[] } {
  const fields: Field[] = [];
  const hop: Field[] = [];
  for (const field of given) {
    const key = field[0].toLowerCase();
    if (HOP_FIELDS.has(key)) hop.push([key, field[1]]);
    else fields.push(field);
  }
  const valuesOf = (name: HopField): readonly string[] => {
    let values: string[] | undefined;
    for (const [key, value] of hop) if (key === name) (values ??= []).push(value);
    return values ?? NONE;
  };
  return { fields, hop: valuesOf };
}

/** What a client of HTTP/2 sends first. */
function isPreface({ method, target, major, minor }: RequestLine): boolean {
  return method === "PRI" && target === "*" && major === 2 && minor === 0;
}

function checkHead({ method }: RequestLine, hosts: readonly string[], fields: readonly Field[], is11: boolean): void {
  const [host] = hosts;
  if (is11 && host === undefined && method !== "CONNECT") throw refused(badRequest("missing required Host header"));
  if (host !== undefined && !HOST.test(host)) throw refused(badRequest("malformed Host header"));
  if (fields.some(([name]) => !NAME.test(name))) throw refused(badRequest("invalid header name"));
}

function hasChunks(codings: readonly string[]): boolean {
  const [coding] = codings;
  if (coding === undefined) return false;
  if (codings.length > 1) throw refused(unsupportedCoding("too many transfer encodings"));
  if (coding.toLowerCase() !== "chunked") {
    throw refused(unsupportedCoding(`unsupported transfer encoding: ${quoteBytes(coding)}`));
  }
  return true;
}

/** Digits. Undefined without the field; several fields must agree. */
function contentLength(values: readonly string[]): string | undefined {
  if (values.length === 0) return undefined;
  const [first = "", ...others] = values.map(trimBlanks);
  if (others.some((other) => other !== first)) throw refused(malformed("several Content-Length headers differ"));
  const digits = first.replace(/^0+(?=[0-9])/, "");
  if (!/^[0-9]{1,19}$/.test(digits) || BigInt(digits) > MAX_LENGTH) {
    throw refused(malformed(`bad Content-Length ${quoteBytes(first)}`));
  }
  return digits;
}

function framingOf(isChunked: boolean, digits: string | undefined): Framing {
  if (isChunked) return { kind: "chunked" };
  // Beyond 2^53 only whether it is reached matters.
  return digits === undefined || digits === "0" ? { kind: "none" } : { kind: "length", bytes: Number(digits), digits };
}

function checkTrailerNames(values: readonly string[]): void {
  for (const name of values.flatMap((value) => value.split(","))) {
    const key = canonicalName(trimBlanks(name));
    if (NOT_IN_TRAILER.has(key)) throw refused(malformed(`bad trailer key ${quoteBytes(key)}`));
  }
}

/** Whether a comma-separated list of tokens in one of the values holds `token`, in any case. */
function hasToken(values: readonly string[], token: string): boolean {
  return values.some((value) => value.split(",").some((one) => trimBlanks(one).toLowerCase() === token));
}

/** Go looks for the token between blanks and commas anywhere in the first value. */
function expectationOf(value: string | undefined, canContinue: boolean): RequestHead["expects"] {
  if (value === undefined || value === "") return "nothing";
  if (!value.split(/[ ,\t]/).some((one) => one.toLowerCase() === "100-continue")) return "unknown";
  return canContinue ? "continue" : "nothing";
}

const refused = (refusal: Refusal): RefusedRequestError => new RefusedRequestError(refusal);
