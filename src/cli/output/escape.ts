// Lines of foreign text for a reader: control characters are visible, and nothing is longer than a bound. Pure.

import { escaped } from "../../shared/base/text/printable.js";
import { cut } from "./table.js";

/** Colours and cursor moves of terminals. ECMA-48, CSI. */
const TERMINAL_CODES = /\u001b\[[0-?]*[ -/]*[@-~]/g;

/** One line: colours are left out, tabs become spaces, other control characters show as "\x07". */
export function escapedLine(line: string, length: number): string {
  const begin = line.slice(0, 8 * length).trimEnd();
  return cut(escaped(begin.replace(TERMINAL_CODES, "").replaceAll("\t", "    ")).trimEnd(), length);
}
