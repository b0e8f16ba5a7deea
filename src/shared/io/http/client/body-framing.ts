// How the body of a response ends, from its head (RFC 9112, section 6.3, as Go's net/http has it).

import { quoteBytes, trimBlanks } from "../bytes.js";
import { canonicalName } from "../field-name.js";
import type { HeaderBlock } from "./header-block.js";
import { ReplyError } from "./reply-error.js";

export type Framing =
  | { kind: "none" }
  | { kind: "length"; bytes: number }
  | { kind: "chunked" }
  | { kind: "until-close" };

/** The fields that decide. */
export const FRAMING_FIELDS = ["Transfer-Encoding", "Content-Length", "Trailer"] as const;

/** Throws ReplyError. */
export function framingOf(status: number, version: string, header: HeaderBlock): Framing {
  const isChunked = hasChunks(version, header);
  const length = contentLength(header.all("Content-Length") ?? []);
  const hasBody = status >= 200 && status !== 204 && status !== 304;
  if (isChunked) checkTrailerNames(header.all("Trailer") ?? []);
  // A status below 100 is none of HTTP's; its body is like that of 200.
  if (!hasBody && status >= 100) return { kind: "none" };
  if (isChunked) return { kind: "chunked" };
  if (length === undefined) return { kind: "until-close" };
  return length === 0 ? { kind: "none" } : { kind: "length", bytes: length };
}

function hasChunks(version: string, header: HeaderBlock): boolean {
  const encodings = header.all("Transfer-Encoding");
  // Version 0.0 counts as 1.1. Before 1.1 the field means nothing.
  if (encodings === undefined || (version < "1.1" && version !== "0.0")) return false;
  if (encodings.length !== 1) {
    const list = encodings.slice(0, 8).map((one) => quoteBytes(one));
    throw new ReplyError("head", `too many transfer encodings: [${list.join(" ")}]`);
  }
  const [encoding = ""] = encodings;
  if (encoding.toLowerCase() === "chunked") return true;
  throw new ReplyError("head", `unsupported transfer encoding: ${quoteBytes(encoding)}`);
}

/** Undefined without the field. Several fields must agree. */
function contentLength(values: readonly string[]): number | undefined {
  const [first, ...others] = values.map(trimBlanks);
  if (first === undefined) return undefined;
  if (others.some((other) => other !== first)) {
    const list = values.slice(0, 8).map((one) => quoteBytes(one));
    throw new ReplyError(
      "head",
      `http: message cannot contain multiple Content-Length headers; got [${list.join(" ")}]`,
    );
  }
  if (first === "") throw new ReplyError("head", `invalid empty Content-Length ""`);
  if (!/^[0-9]+$/.test(first) || BigInt(first.slice(-40)) > MAX_INT64 || first.replace(/^0+/, "").length > 19) {
    throw new ReplyError("head", `bad Content-Length ${quoteBytes(first)}`);
  }
  // Only whether it is reached matters beyond 2^53.
  return Number(first);
}

const MAX_INT64 = 2n ** 63n - 1n;
const NOT_IN_TRAILER = new Set(["Transfer-Encoding", "Trailer", "Content-Length"]);

function checkTrailerNames(values: readonly string[]): void {
  for (const name of values.flatMap((value) => value.split(","))) {
    const key = canonicalName(trimBlanks(name));
    if (NOT_IN_TRAILER.has(key)) throw new ReplyError("head", `bad trailer key ${quoteBytes(key)}`);
  }
}
