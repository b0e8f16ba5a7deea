// Go's strconv.Quote: log readers parse values as Go writes them.

import { replaceEach } from "./linear.js";

const SHORT: Readonly<Record<string, string>> = {
  "\u0007": "\\a",
  "\b": "\\b",
  "\f": "\\f",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\v": "\\v",
  '"': '\\"',
  "\\": "\\\\",
};

/** Characters that are not themselves between quotes: `"`, `\` and those that Go counts as not printable. */
const SPECIAL = /["\\]|[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/u;
const EACH_SPECIAL = new RegExp(SPECIAL, "gu");

const EACH_BEYOND_ASCII = /[^\p{L}\p{M}\p{N}\p{P}\p{S}\p{ASCII}]/gu;
const LONE_SURROGATE = /\p{Surrogate}/u;

/** Longer texts are escaped by V8's own loops: a call of a function for each character takes ten times as long. */
const SHORT_TEXT = 512;
/** All other special characters of ASCII look the same in JSON. */
const NOT_AS_JSON = /[\0-\x07\v\x0e-\x1f\x7f]/;
/** The backslash first: it is a part of all others. */
const ASCII_ESCAPES = ["\\", ...Array.from({ length: 128 }, (_, code) => String.fromCharCode(code))]
  .filter((character, at) => SPECIAL.test(character) && (at === 0 || character !== "\\"))
  .map((character) => [character, escapeOne(character)] as const);

/** `text` in double quotes, as Go's %q has it. A lone surrogate becomes \ufffd. */
export function quote(text: string): string {
  if (!SPECIAL.test(text)) return `"${text}"`;
  if (text.length <= SHORT_TEXT || LONE_SURROGATE.test(text)) return `"${text.replace(EACH_SPECIAL, escapeOne)}"`;
  const quoted = NOT_AS_JSON.test(text) ? `"${replaceEach(text, ASCII_ESCAPES)}"` : JSON.stringify(text);
  return quoted.replace(EACH_BEYOND_ASCII, escapeOne);
}

/** The start of a text of any length, in double quotes. */
export function quoteStart(text: string, longest = 100): string {
  return quote(text.length > longest ? `${text.slice(0, longest)}…` : text);
}

function escapeOne(character: string): string {
  const short = SHORT[character];
  if (short !== undefined) return short;
  const code = character.codePointAt(0) ?? 0;
  if (code >= 0xd800 && code <= 0xdfff) return "\\ufffd";
  const hex = code.toString(16);
  if (code < 0x20 || code === 0x7f) return `\\x${hex.padStart(2, "0")}`;
  return code <= 0xffff ? `\\u${hex.padStart(4, "0")}` : `\\U${hex.padStart(8, "0")}`;
}
