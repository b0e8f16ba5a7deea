// Scalars in quotes, and plain ones: line breaks within them are folded.

import { codes, isBlank, isBlankOrEnd, isBreak, isHexDigit } from "./characters.js";
import type { Cursor } from "./cursor.js";
import { token, type Token } from "./tokens.js";

const FLOW_INDICATORS = codes(",?[]{}");
const APOSTROPHE = 0x27;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

const ESCAPES: Readonly<Record<string, string>> = {
  "0": "\0",
  a: "\x07",
  b: "\b",
  t: "\t",
  "\t": "\t",
  n: "\n",
  v: "\v",
  f: "\f",
  r: "\r",
  e: "\x1b",
  " ": " ",
  '"': '"',
  "'": "'",
  "\\": "\\",
  N: "\x85",
  _: "\xa0",
  L: "\u2028",
  P: "\u2029",
};
const HEX_DIGITS: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 };

export function scanQuoted(cursor: Cursor): Token {
  const start = cursor.position;
  const single = cursor.code() === APOSTROPHE;
  const quote = single ? APOSTROPHE : QUOTE;
  const parts: string[] = [];
  cursor.skip();
  for (;;) {
    cursor.need(4);
    if (cursor.atDocumentMarker()) cursor.fail("a text in quotes contains a document marker; indent the line", start);
    if (cursor.code() === 0) cursor.fail(`the text in quotes has no closing ${single ? "'" : '"'}`, start);
    const escapedBreak = single ? scanSingle(cursor, parts) : scanDouble(cursor, parts, start);
    cursor.need(1);
    if (cursor.code() === quote) break;
    parts.push(blanks(cursor, escapedBreak));
  }
  cursor.skip();
  return token("scalar", start, cursor.position, parts.join(""));
}

/** Up to a blank or the closing quote. */
function scanSingle(cursor: Cursor, parts: string[]): false {
  const { text } = cursor;
  let from = cursor.position;
  for (let code = cursor.code(); !isBlankOrEnd(code); code = cursor.code()) {
    if (code === APOSTROPHE) {
      if (cursor.code(1) !== APOSTROPHE) break;
      parts.push(text.slice(from, cursor.position + 1));
      cursor.skip(2);
      from = cursor.position;
    } else cursor.skip();
  }
  cursor.need(2);
  parts.push(text.slice(from, cursor.position));
  return false;
}

/** Up to a blank or the closing quote; true after an escaped line break. */
function scanDouble(cursor: Cursor, parts: string[], start: number): boolean {
  const { text } = cursor;
  let from = cursor.position;
  const flush = (): void => {
    parts.push(text.slice(from, cursor.position));
  };
  for (let code = cursor.code(); !isBlankOrEnd(code) && code !== QUOTE; code = cursor.code()) {
    if (code !== BACKSLASH) {
      cursor.skip();
      continue;
    }
    flush();
    if (isBreak(cursor.code(1))) {
      cursor.need(3);
      cursor.skip();
      cursor.readBreak();
      return true;
    }
    parts.push(scanEscape(cursor, start));
    from = cursor.position;
  }
  cursor.need(2);
  flush();
  return false;
}

function scanEscape(cursor: Cursor, start: number): string {
  cursor.need(2);
  const letter = cursor.text.charAt(cursor.position + 1);
  const escaped = Object.hasOwn(ESCAPES, letter) ? ESCAPES[letter] : undefined;
  const digits = Object.hasOwn(HEX_DIGITS, letter) ? (HEX_DIGITS[letter] ?? 0) : 0;
  if (escaped === undefined && digits === 0) {
    cursor.fail("a backslash in double quotes is not followed by an escape of YAML");
  }
  cursor.skip(2);
  if (escaped !== undefined) return escaped;
  cursor.need(digits);
  for (let ahead = 0; ahead < digits; ahead++) {
    if (!isHexDigit(cursor.code(ahead))) cursor.fail(`an escape needs ${digits} hexadecimal digits`);
  }
  const value = Number.parseInt(cursor.text.slice(cursor.position, cursor.position + digits), 16);
  if (value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff)) {
    cursor.fail("an escape names no Unicode character", start);
  }
  cursor.skip(digits);
  return String.fromCodePoint(value);
}

/** The white space between two words: as it is within a line, folded across lines. */
function blanks(cursor: Cursor, afterBreak: boolean): string {
  const from = cursor.position;
  let first = "";
  let more = "";
  let broken = afterBreak;
  for (let code = cursor.code(); ; code = cursor.code()) {
    if (isBlank(code)) cursor.skip();
    else if (!isBreak(code)) break;
    else if (broken) more += cursor.readBreak();
    else {
      first = cursor.readBreak();
      broken = true;
    }
  }
  cursor.need(1);
  return broken ? folded(first, more) : cursor.text.slice(from, cursor.position);
}

/** A single line break becomes a space; of more, all after the first stay. An escaped line break is no first one. */
function folded(first: string, more: string): string {
  if (first !== "\n") return first + more;
  return more === "" ? " " : more;
}

export interface PlainScalar {
  token: Token;
  /** The scalar's end was found on a later line: a key may begin there. */
  onNextLine: boolean;
}

/** `indent`: the smallest column of a continuation line in block context. */
export function scanPlain(cursor: Cursor, inFlow: boolean, indent: number): PlainScalar {
  const start = cursor.position;
  const { text } = cursor;
  let value = "";
  let end = start;
  let between = "";
  let onNextLine = false;
  for (;;) {
    cursor.need(4);
    if (cursor.atDocumentMarker() || cursor.code() === 0x23) break;
    const from = cursor.position;
    for (let code = cursor.code(); !isBlankOrEnd(code); code = cursor.code()) {
      if (code === 0x3a && isBlankOrEnd(cursor.code(1))) break;
      if (inFlow && FLOW_INDICATORS.has(code)) break;
      cursor.skip();
    }
    if (cursor.position > from) {
      cursor.need(2);
      value += between + text.slice(from, cursor.position);
      end = cursor.position;
      between = "";
      onNextLine = false;
    }
    const code = cursor.code();
    if (!isBlank(code) && !isBreak(code)) break;
    [between, onNextLine] = plainBlanks(cursor, indent);
    if (!inFlow && cursor.column < indent) break;
  }
  return { token: token("scalar", start, end, value, "", true), onNextLine };
}

function plainBlanks(cursor: Cursor, indent: number): [text: string, broken: boolean] {
  const from = cursor.position;
  let first = "";
  let more = "";
  for (let code = cursor.code(); ; code = cursor.code()) {
    if (isBlank(code)) {
      const indentation = first !== "" && cursor.column < indent;
      if (indentation && code === 0x09) cursor.fail("a tab is used for indentation");
      cursor.skip();
    } else if (!isBreak(code)) break;
    else if (first !== "") more += cursor.readBreak();
    else first = cursor.readBreak();
  }
  cursor.need(1);
  return first === "" ? [cursor.text.slice(from, cursor.position), false] : [folded(first, more), true];
}
