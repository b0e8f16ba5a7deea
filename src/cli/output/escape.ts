// Lines of foreign text for a reader: control characters are visible, and nothing is longer than a bound. Pure.
import { cut } from "./table.js";
import { UNPRINTABLE } from "./colour.js";

const EACH_UNPRINTABLE = new RegExp(UNPRINTABLE.source, "g");

/** Colours and cursor moves of terminals. ECMA-48, CSI. */
const TERMINAL_CODES = /\u001b\[[0-?]*[ -/]*[@-~]/g;

/** One line: colours are left out, tabs become spaces, other control characters show as "\x07". */
export function escapedLine(line: string, length: number): string {
  const printable = line
    .slice(0, 8 * length)
    .trimEnd()
    .replace(TERMINAL_CODES, "")
    .replaceAll("\t", "    ")
    .replace(EACH_UNPRINTABLE, (found) => {
      const code = found.charCodeAt(0);
      return code < 256 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`;
    });
  return cut(printable.trimEnd(), length);
}
