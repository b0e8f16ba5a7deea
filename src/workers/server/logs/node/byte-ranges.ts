// The Range header of a request, as Go's file server reads it. Ranges that are longer together than the file mean the
// whole file: so no request makes a response of many times its size.

import { trimBlanks } from "../../../../shared/io/http/bytes.js";

export interface ByteRange {
  readonly start: number;
  /** Exclusive. */
  readonly end: number;
}

export type RangeAnswer =
  | { readonly kind: "whole" }
  | ({ readonly kind: "part" } & ByteRange)
  /** Two or more, in the order of the request. They may overlap. */
  | { readonly kind: "parts"; readonly ranges: readonly ByteRange[] }
  /** No range begins within the file. */
  | { readonly kind: "outside" }
  | { readonly kind: "malformed" };

const UNIT = "bytes=";
const WHOLE: RangeAnswer = { kind: "whole" };
const MALFORMED = { kind: "malformed" } as const;
const INT64_END = 2n ** 63n - 1n;

/** @param header undefined: none was sent */
export function rangeOf(header: string | undefined, size: number): RangeAnswer {
  if (header === undefined || header === "") return WHOLE;
  if (!header.startsWith(UNIT)) return MALFORMED;
  const parts: (ByteRange & { kind: "part" })[] = [];
  let isOutside = false;
  for (const text of header.slice(UNIT.length).split(",")) {
    if (trimBlanks(text) === "") continue;
    const found = oneRange(text, size);
    if (found.kind === "malformed") return found;
    if (found.kind === "part") parts.push(found);
    else isOutside = true;
  }
  const [first, second] = parts;
  if (first !== undefined && second === undefined) return first;
  if (first !== undefined) return sumOf(parts) > size ? WHOLE : { kind: "parts", ranges: parts };
  // Clients that limit every response send a range for an empty file, too.
  return isOutside && size > 0 ? { kind: "outside" } : WHOLE;
}

function sumOf(ranges: readonly ByteRange[]): number {
  return ranges.reduce((sum, { start, end }) => sum + end - start, 0);
}

type OneRange = Exclude<RangeAnswer, { kind: "whole" | "parts" }>;

function oneRange(text: string, size: number): OneRange {
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
