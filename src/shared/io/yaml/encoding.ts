// The text of a file: UTF-8, or UTF-16 with a byte order mark, as go-yaml reads it. A byte order mark is not part of
// the text.
//
// go-yaml reads blocks of 512 bytes, and only as far as it needs. What it never reads may be broken: a character that
// YAML does not allow counts when its block is read.

import { YamlError } from "./yaml-error.js";

export interface SourceText {
  text: string;
  /** Where reading ends with an error; undefined if the whole text may be read. */
  end: { offset: number; error: YamlError } | undefined;
}

const BLOCK_BYTES = 512;
const FORBIDDEN = /[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u;

export function sourceText(input: string | Uint8Array): SourceText {
  const read = typeof input === "string" ? ofString(input) : ofBytes(input);
  const forbidden = read.text.search(FORBIDDEN);
  const code = read.text.codePointAt(forbidden === -1 ? 0 : forbidden) ?? 0;
  const problem =
    forbidden === -1
      ? read.broken
      : `the character U+${code.toString(16).toUpperCase().padStart(4, "0")} is not allowed; write it as an escape in double quotes`;
  if (problem === undefined) return { text: read.text, end: undefined };
  const at = forbidden === -1 ? read.text.length : forbidden;
  return { text: read.text, end: { offset: blockStart(read, at), error: new YamlError(problem, at) } };
}

interface ReadText {
  text: string;
  /** What is wrong with the bytes after the text. */
  broken: string | undefined;
  markBytes: number;
  utf16: boolean;
}

function ofString(input: string): ReadText {
  const marked = input.startsWith("\uFEFF");
  return { text: marked ? input.slice(1) : input, broken: undefined, markBytes: marked ? 3 : 0, utf16: false };
}

function ofBytes(bytes: Uint8Array): ReadText {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return ofUtf16(bytes, "utf-16le");
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return ofUtf16(bytes, "utf-16be");
  const markBytes = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  const { text, whole } = decoded(bytes.subarray(markBytes), "utf-8");
  return { text, broken: whole ? undefined : "the text is not valid UTF-8", markBytes, utf16: false };
}

function ofUtf16(bytes: Uint8Array, encoding: "utf-16le" | "utf-16be"): ReadText {
  const { text, whole } = decoded(bytes.subarray(2), encoding);
  return { text, broken: whole ? undefined : "the text is not valid UTF-16", markBytes: 2, utf16: true };
}

/** As far as the bytes are valid. The length of what is valid is found by halving. */
function decoded(bytes: Uint8Array, encoding: string): { text: string; whole: boolean } {
  const attempt = (length: number): string | undefined => {
    try {
      // A stream's end may be within a character: only invalid bytes are an error.
      return new TextDecoder(encoding, { fatal: true, ignoreBOM: true }).decode(bytes.subarray(0, length), {
        stream: length < bytes.length,
      });
    } catch {
      return undefined;
    }
  };
  const text = attempt(bytes.length);
  if (text !== undefined) return { text, whole: true };
  let [valid, invalid] = [0, bytes.length];
  while (invalid - valid > 1) {
    const middle = (valid + invalid) >>> 1;
    if (attempt(middle) === undefined) invalid = middle;
    else valid = middle;
  }
  return { text: attempt(valid) ?? "", whole: false };
}

/** Where the block begins that contains the character at `offset`. A character is never in two blocks. */
function blockStart({ text, markBytes, utf16 }: ReadText, offset: number): number {
  let start = 0;
  let bytes = markBytes;
  for (let index = 0; index <= offset;) {
    const code = text.codePointAt(index) ?? 0;
    const size = utf16 ? (code > 0xffff ? 4 : 2) : bytesInUtf8(code);
    if (bytes + size > BLOCK_BYTES) [start, bytes] = [index, 0];
    bytes += size;
    index += code > 0xffff ? 2 : 1;
  }
  return start;
}

function bytesInUtf8(code: number): number {
  if (code < 0x80) return 1;
  if (code < 0x800) return 2;
  return code < 0x10000 ? 3 : 4;
}
