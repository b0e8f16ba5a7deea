// Texts of others (pods, runtimes, plugins, files) as a person reads them. Invariant: what comes out has no character
// that steers a terminal, and none that a reader of lines takes for another line, but those that the function's name
// allows. Inside a sentence a text of others stands in quotes, as Go's %q has it: quote.ts.

/** A control character, or one that changes the direction of text. */
export const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;
const EACH = new RegExp(UNPRINTABLE.source, "g");
const RUNS = new RegExp(`${UNPRINTABLE.source}+`, "g");
const EACH_BUT_LINES = new RegExp(`(?![\\n\\t])${UNPRINTABLE.source}`, "g");

/** One line: unprintable characters and line ends become spaces. */
export function oneLine(text: string): string {
  return text.replace(RUNS, " ").trim();
}

/** Writes unprintable characters, line ends and tabs as "\x07". */
export const escaped = (text: string): string => text.replace(EACH, escapeOne);

/** Like `escaped`, but line ends and tabs stay. */
export const escapedLines = (text: string): string => text.replace(EACH_BUT_LINES, escapeOne);

function escapeOne(character: string): string {
  const code = character.charCodeAt(0);
  return code < 256 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`;
}
