// The last lines of a unit in the journal.

import { runTool, type ToolOptions } from "../../machine/tool.js";

const DEADLINE_MS = 20_000;
const BYTES = 16 * 1024 * 1024;
const FEW_LINES = 200;

/** Rejects without a journal, and for a unit without lines. */
export async function journal(unit: string, lines: number, options: ToolOptions): Promise<string> {
  const read = (count: number): Promise<string> =>
    runTool("journalctl", [`--unit=${unit}`, `--lines=${count}`, "--no-pager", "--output=short-iso"], {
      ...options,
      deadlineMs: DEADLINE_MS,
      bytes: BYTES,
    });
  // Very long lines: fewer of them are better than none.
  const text = await read(lines).catch((error: unknown) => {
    if (error instanceof Error && error.message.includes("printed more than")) return read(FEW_LINES);
    throw error;
  });
  if (/^(?:-- No entries --|No journal files were found\.)?\s*$/.test(text))
    throw new Error(`the journal has no line of the unit ${unit}`);
  return text;
}
