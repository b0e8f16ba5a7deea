// Byte strings: texts in which each character is one byte (latin1). URLs and headers are handled in them, because Go's
// client handles bytes; what a person reads is decoded at the end.

import { quote } from "../../base/text/quote.js";

/** The UTF-8 bytes of `text`. */
export const toBytes = (text: string): string => (isAscii(text) ? text : Buffer.from(text, "utf8").toString("latin1"));

/** The text whose UTF-8 bytes are given; a wrong sequence becomes U+FFFD. */
export const fromBytes = (bytes: string): string =>
  isAscii(bytes) ? bytes : Buffer.from(bytes, "latin1").toString("utf8");

export const isAscii = (text: string): boolean => /^[\x00-\x7f]*$/.test(text);

/** Spaces and tabs at both ends are removed. */
export function trimBlanks(line: string): string {
  let start = 0;
  while (start < line.length && isBlank(line.charCodeAt(start))) start++;
  return trimBlanksEnd(line.slice(start));
}

/** Spaces and tabs at the end are removed. */
export function trimBlanksEnd(line: string): string {
  let end = line.length;
  while (end > 0 && isBlank(line.charCodeAt(end - 1))) end--;
  return line.slice(0, end);
}

const isBlank = (code: number): boolean => code === 0x20 || code === 0x09;

/** One character, and all else byte by byte (RFC 3629). */
const CHARACTERS =
  /[\x00-\x7f]+|[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}|\xed[\x80-\x9f][\x80-\xbf]|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2}|[^]/g;
/** A server's text in an error message is cut to so many bytes. */
const QUOTED_BYTES = 1024;

/** The start of the bytes in double quotes, as Go's %q has them: a byte of no character is \\xNN. */
export function quoteBytes(bytes: string, longest = QUOTED_BYTES): string {
  const parts = bytes
    .slice(0, longest)
    .replace(CHARACTERS, (part) =>
      part.length > 1 || part < "\x80" ? quote(fromBytes(part)).slice(1, -1) : `\\x${part.charCodeAt(0).toString(16)}`,
    );
  return `"${parts}"`;
}
