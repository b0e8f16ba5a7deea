// Anchors, aliases, tags and directives.

import { codes, isBlank, isBlankOrEnd, isBreakOrEnd, isDigit, isHexDigit, isWordCharacter } from "./characters.js";
import type { Cursor } from "./cursor.js";
import { token, type Token } from "./tokens.js";

const AFTER_ANCHOR = codes("?:,]}%@`");
const TAG_CHARACTERS = codes(";/?:@&=+$,.!~*'()[]%");
const EXCLAMATION = 0x21;
const PERCENT = 0x25;

export function scanAnchor(cursor: Cursor): Token {
  const start = cursor.position;
  const type = cursor.code() === 0x2a ? "alias" : "anchor";
  cursor.skip();
  const name = word(cursor);
  const follows = cursor.code();
  if (name === "" || !(isBlankOrEnd(follows) || AFTER_ANCHOR.has(follows))) {
    cursor.fail(`the name of an ${type} must consist of letters, digits, "_" and "-"`, start);
  }
  return token(type, start, cursor.position, name);
}

export function scanTag(cursor: Cursor): Token {
  const start = cursor.position;
  cursor.need(2);
  let handle = "";
  let suffix: string;
  if (cursor.code(1) === 0x3c) {
    cursor.skip(2);
    suffix = tagText(cursor, "", start);
    if (cursor.code() !== 0x3e) cursor.fail('a tag that begins with "!<" must end with ">"', start);
    cursor.skip();
  } else {
    handle = tagHandle(cursor, start);
    if (handle.length > 1 && handle.endsWith("!")) suffix = tagText(cursor, "", start);
    else {
      suffix = tagText(cursor, handle, start);
      handle = "!";
      if (suffix === "") [handle, suffix] = ["", "!"];
    }
  }
  cursor.need(1);
  if (!isBlankOrEnd(cursor.code())) cursor.fail("a tag must be followed by a space", start);
  return token("tag", start, cursor.position, handle, suffix);
}

/** "%YAML 1.1" or "%TAG handle prefix", with the rest of the line. */
export function scanDirective(cursor: Cursor): Token {
  const start = cursor.position;
  cursor.skip();
  const name = word(cursor);
  if (name === "") cursor.fail("a directive needs a name", start);
  if (!isBlankOrEnd(cursor.code())) cursor.fail("the name of a directive must be followed by a space", start);
  let directive: Token;
  if (name === "YAML") directive = versionDirective(cursor, start);
  else if (name === "TAG") directive = tagDirective(cursor, start);
  else cursor.fail(`unknown directive %${name}`, start);
  cursor.need(1);
  cursor.skipBlanks();
  cursor.skipComment();
  if (!isBreakOrEnd(cursor.code())) cursor.fail("a directive must end with its line", start);
  cursor.need(2);
  cursor.readBreak();
  return directive;
}

function versionDirective(cursor: Cursor, start: number): Token {
  cursor.skipBlanks();
  const major = versionNumber(cursor, start);
  if (cursor.code() !== 0x2e) cursor.fail("a version must be two numbers with a dot between", start);
  cursor.skip();
  return token("version directive", start, cursor.position, `${major}.${versionNumber(cursor, start)}`);
}

function versionNumber(cursor: Cursor, start: number): number {
  const from = cursor.position;
  while (isDigit(cursor.code()) && cursor.position - from < 3) cursor.skip();
  cursor.need(1);
  const length = cursor.position - from;
  if (length === 0 || length > 2) cursor.fail("a version must be two numbers of at most two digits", start);
  return Number(cursor.text.slice(from, cursor.position));
}

function tagDirective(cursor: Cursor, start: number): Token {
  cursor.skipBlanks();
  const handle = tagHandle(cursor, start);
  if (handle !== "!" && !handle.endsWith("!")) cursor.fail('the handle of a %TAG directive must end with "!"', start);
  if (!isBlank(cursor.code())) cursor.fail("the handle of a %TAG directive must be followed by a space", start);
  cursor.skipBlanks();
  const prefix = tagText(cursor, "", start);
  if (!isBlankOrEnd(cursor.code())) cursor.fail("the prefix of a %TAG directive must be followed by a space", start);
  return token("tag directive", start, cursor.position, handle, prefix);
}

function word(cursor: Cursor): string {
  const from = cursor.position;
  while (isWordCharacter(cursor.code())) cursor.skip();
  cursor.need(1);
  return cursor.text.slice(from, cursor.position);
}

/** "!", "!!", "!name!", or "!name", which is no handle but the beginning of a tag. */
function tagHandle(cursor: Cursor, start: number): string {
  if (cursor.code() !== EXCLAMATION) cursor.fail('a tag must begin with "!"', start);
  const from = cursor.position;
  cursor.skip();
  word(cursor);
  if (cursor.code() === EXCLAMATION) cursor.skip();
  return cursor.text.slice(from, cursor.position);
}

/** What follows a handle; `head` is a handle that turned out to be none. */
function tagText(cursor: Cursor, head: string, start: number): string {
  let text = head.slice(1);
  let any = head !== "";
  for (let code = cursor.code(); isWordCharacter(code) || TAG_CHARACTERS.has(code); code = cursor.code()) {
    any = true;
    if (code === PERCENT) text += escapedCharacter(cursor, start);
    else {
      text += cursor.text.charAt(cursor.position);
      cursor.skip();
    }
  }
  cursor.need(1);
  if (!any) cursor.fail("a tag needs a name", start);
  return text;
}

/** A character as its bytes in UTF-8, each "%" and two hexadecimal digits. Bytes that form none become U+FFFD. */
function escapedCharacter(cursor: Cursor, start: number): string {
  const bytes: number[] = [];
  let length = 1;
  for (let index = 0; index < length; index++) {
    cursor.need(3);
    if (cursor.code() !== PERCENT || !isHexDigit(cursor.code(1)) || !isHexDigit(cursor.code(2))) {
      cursor.fail('"%" in a tag must be followed by two hexadecimal digits', start);
    }
    const byte = Number.parseInt(cursor.text.slice(cursor.position + 1, cursor.position + 3), 16);
    const continues = byte >= 0x80 && byte < 0xc0;
    if ((index === 0) === continues || byte >= 0xf8) cursor.fail("an escape in a tag is not valid UTF-8", start);
    if (index === 0) length = byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
    bytes.push(byte);
    cursor.skip(3);
  }
  return Buffer.from(bytes).toString();
}
