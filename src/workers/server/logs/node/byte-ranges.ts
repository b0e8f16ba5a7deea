// The Range header of a request, as Go's file server reads it. Several ranges mean the whole file; Go sends them in
// parts.

import { trimBlanks } from "../../../../shared/io/http/bytes.js";

export type RangeAnswer =
  | { readonly kind: "whole" }
  /** `end` is exclusive. */
  | { readonly kind: "part"; readonly start: number; readonly end: number }
  /** No range begins within the file. */
  | { readonly kind: "outside" }
  | { readonly kind: "malformed" };

const UNIT = "bytes=";
const WHOLE: RangeAnswer = { kind: "whole" };
const MALFORMED: RangeAnswer = { kind: "malformed" };
const INT64_END = 2n ** 63n - 1n;

/** @param header undefined: none was sent */
export function rangeOf(header: string | undefined, size: number): RangeAnswer {
  if (header === undefined || header === "") return WHOLE;
  if (!header.startsWith(UNIT)) return MALFORMED;
  const parts: RangeAnswer[] = [];
  let isOutside = false;
  for (const text of header.slice(UNIT.length).split(",")) {
    if (trimBlanks(text) === "") continue;
    const found = oneRange(text, size);
    if (found.kind === "malformed") return found;
    if (found.kind === "outside") isOutside = true;
    else parts.push(found);
  }
  const [first, second] = parts;
  if (first !== undefined) return second === undefined ? first : WHOLE;
  // Clients that limit every response send a range for an empty file, too.
  return isOutside && size > 0 ? { kind: "outside" } : WHOLE;
}

function oneRange(text: string, size: number): RangeAnswer {
  const dash = text.indexOf("-");
  if (dash < 0) return MALFORMED;
  const [from, to] = [trimBlanks(text.slice(0, dash)), trimBlanks(text.slice(dash + 1))];
  if (from === "") {
    const length = to.startsWith("-") ? undefined : integer(to);
    return length === undefined ? MALFORMED : { kind: "part", start: size - Math.min(length, size), end: size };
  }
  const start = integer(from);
  if (start === undefined) return MALFORMED;
  if (start >= size) return { kind: "outside" };
  if (to === "") return { kind: "part", start, end: size };
  const last = integer(to);
  if (last === undefined || start > last) return MALFORMED;
  return { kind: "part", start, end: Math.min(last, size - 1) + 1 };
}

/** A whole number of 64 bits as Go's strconv reads it. */
function integer(text: string): number | undefined {
  if (!/^[+-]?[0-9]+$/.test(text)) return undefined;
  const digits = text.replace(/^[+-]?0*/, "");
  if (digits.length > 19 || BigInt(digits || "0") > INT64_END) return undefined;
  return text.startsWith("-") ? -Number(digits) : Number(digits);
}
