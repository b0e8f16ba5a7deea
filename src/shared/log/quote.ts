// Go's strconv.Quote: log readers parse values as Go writes them.

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

/** Characters that are not themselves between quotes: `"`, `\` and whatever Go counts as not printable. */
const SPECIAL = /["\\]|[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/u;
const EACH_SPECIAL = new RegExp(SPECIAL, "gu");

/** `text` in double quotes, as Go's %q has it. A lone surrogate becomes \ufffd. */
export function quote(text: string): string {
  return SPECIAL.test(text) ? `"${text.replace(EACH_SPECIAL, escapeOne)}"` : `"${text}"`;
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
