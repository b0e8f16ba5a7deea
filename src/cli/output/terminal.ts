// Every text that nodelet itself writes, to standard output and standard error. Texts of pods, runtimes and programs in
// containers must not steer the terminal (CVE-2021-25743), so this file cleans all of it, whatever the caller did. Only
// the log of `nodelet logs` and the output of `nodelet exec` go past it: they are what the user asked for.
// Invariant: what is written has no control characters but line ends, tabs and, with colours, the codes of `painter`.

import { oneLine, UNPRINTABLE } from "../../shared/base/text/printable.js";

/** Codes of `painter` (table.ts): colours and their end. */
const COLOUR = /\u001b\[(?:0|1|2|31|32|33)m/;
const EXCEPT_COLOURS = new RegExp(`(${COLOUR.source})|(?![\\n\\t])${UNPRINTABLE.source}`, "g");
const EXCEPT_LINES = new RegExp(`(?![\\n\\t])${UNPRINTABLE.source}`, "g");

/**
 * Lines for people or programs. Data that is JSON loses nothing: JSON text has these characters as escapes (print.ts).
 */
export function writeOut(text: string, colours: boolean): void {
  process.stdout.write(printable(text, colours));
}

/** One line about a failure; line ends in it become spaces, because a foreign text must not forge another line. */
export function printFailure(line: string): void {
  process.stderr.write(`nodelet: ${oneLine(line)}\n`);
}

/** One line about something that is no failure. */
export function warn(line: string): void {
  process.stderr.write(`Warning: ${oneLine(line)}\n`);
}

/** One line about a choice of the command's own. */
export function remark(line: string): void {
  process.stderr.write(`${oneLine(line)}\n`);
}

/** For commander, whose messages repeat the user's own words. */
export function writeErr(text: string): void {
  process.stderr.write(printable(text, false));
}

/** Begins a terminal's screen anew. */
export function clearScreen(): void {
  if (process.stdout.isTTY) process.stdout.write("\u001b[H\u001b[2J");
}

/** @internal */
export function printable(text: string, colours: boolean): string {
  return colours
    ? text.replace(EXCEPT_COLOURS, (_found, colour: string | undefined) => colour ?? " ")
    : text.replace(EXCEPT_LINES, " ");
}
