// Literal ("|") and folded (">") scalars.

import { isBlank, isBreak, isBreakOrEnd, isDigit } from "./characters.js";
import type { Cursor } from "./cursor.js";
import { token, type Token } from "./tokens.js";

type Chomping = "strip" | "clip" | "keep";

/** `parentIndent`: the column of the enclosing collection, -1 outside of any. */
export function scanBlockScalar(cursor: Cursor, parentIndent: number): Token {
  const start = cursor.position;
  const literal = cursor.code() === 0x7c;
  cursor.skip();
  const { chomping, increment } = header(cursor, start);
  const given = increment === 0 ? undefined : Math.max(parentIndent, 0) + increment;

  const found = emptyLines(cursor, given, start);
  const indent = given ?? Math.max(found.widest, parentIndent + 1, 1);
  let breaks = found.breaks;
  let { end } = found;
  let value = "";
  let lineBreak = "";
  let blankBefore = false;
  cursor.need(1);
  while (cursor.column === indent && cursor.code() !== 0) {
    const blank = isBlank(cursor.code());
    const fold = !literal && !blankBefore && !blank && lineBreak === "\n";
    value += fold ? (breaks === "" ? " " : "") : lineBreak;
    value += breaks;
    blankBefore = blank;
    const from = cursor.position;
    while (!isBreakOrEnd(cursor.code())) cursor.skip();
    cursor.need(2);
    value += cursor.text.slice(from, cursor.position);
    lineBreak = cursor.readBreak();
    ({ breaks, end } = emptyLines(cursor, indent, start));
  }
  if (chomping !== "strip") value += lineBreak;
  if (chomping === "keep") value += breaks;
  return token("scalar", start, end, value);
}

/** The indicators after "|" or ">", in any order, and the rest of the line. */
function header(cursor: Cursor, start: number): { chomping: Chomping; increment: number } {
  cursor.need(1);
  let chomping = chompingIndicator(cursor);
  let increment = 0;
  if (isDigit(cursor.code())) {
    increment = cursor.code() - 0x30;
    if (increment === 0) cursor.fail("the indentation of a block scalar cannot be 0", start);
    cursor.skip();
    cursor.need(1);
    chomping ??= chompingIndicator(cursor);
  }
  cursor.skipBlanks();
  cursor.skipComment();
  if (!isBreakOrEnd(cursor.code())) cursor.fail("the text of a block scalar must begin on the next line", start);
  cursor.need(2);
  cursor.readBreak();
  return { chomping: chomping ?? "clip", increment };
}

function chompingIndicator(cursor: Cursor): Chomping | undefined {
  const code = cursor.code();
  if (code !== 0x2b && code !== 0x2d) return undefined;
  cursor.skip();
  cursor.need(1);
  return code === 0x2b ? "keep" : "strip";
}

interface EmptyLines {
  breaks: string;
  /** The largest column that their spaces and those of the next line reach. */
  widest: number;
  end: number;
}

/** Lines without text, and the indentation of the next one; `indent` undefined: it is being detected. */
function emptyLines(cursor: Cursor, indent: number | undefined, start: number): EmptyLines {
  const lines: EmptyLines = { breaks: "", widest: 0, end: cursor.position };
  for (;;) {
    while ((indent === undefined || cursor.column < indent) && cursor.code() === 0x20) cursor.skip();
    cursor.need(1);
    lines.widest = Math.max(lines.widest, cursor.column);
    if ((indent === undefined || cursor.column < indent) && cursor.code() === 0x09) {
      cursor.fail("a block scalar is indented with a tab", start);
    }
    if (!isBreak(cursor.code())) return lines;
    cursor.need(2);
    lines.breaks += cursor.readBreak();
    lines.end = cursor.position;
  }
}
