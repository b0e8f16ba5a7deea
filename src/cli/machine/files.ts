// Reads files of other programs for doctor and support-bundle, through programs that can be ended: a file system that
// does not respond, or a pipe in the place of a file, holds up only them. Node's own calls would keep this process from
// ending.

import { messageOf } from "../../shared/base/errors/thrown.js";
import { runTool, type ToolOptions } from "./tool.js";

export interface FoundFile {
  path: string;
  text: string;
  /** The rest of it was not read. */
  cut: boolean;
}

const FILE_BYTES = 256 * 1024;

/** Rejects if it is not there, is no file, or its disk does not respond. */
export async function readThrough(path: string, options: ToolOptions): Promise<FoundFile> {
  const { bytes = FILE_BYTES } = options;
  const run = runTool("head", ["-c", String(bytes + 1), "--", path], { ...options, bytes: bytes + 1 });
  const text = await run.catch((error: unknown) => {
    throw /No such file/.test(messageOf(error)) ? new Error(`there is no file ${path}`) : error;
  });
  const cut = Buffer.byteLength(text) > bytes;
  return { path, text: cut ? Buffer.from(text).subarray(0, bytes).toString("utf8") : text, cut };
}

export interface Entry {
  path: string;
  /** "f" file, "p" pipe, "l" link to nothing, and so on, as find has it. */
  type: string;
}

/** What is in a folder but folders, links followed, in order; nothing if there is no folder. */
export async function entriesOf(
  folder: string,
  { depth = 1, ...options }: ToolOptions & { depth?: number },
): Promise<Entry[]> {
  const args = ["-L", folder, "-maxdepth", String(depth), "!", "-type", "d", "-printf", "%y%p\\0"];
  // It fails for a folder that it may not read, and still prints the others.
  const printed = await runTool("find", args, { ...options, anyExit: true });
  const entries = printed.split("\0").filter((entry) => entry !== "");
  return entries.map((entry) => ({ type: entry.slice(0, 1), path: entry.slice(1) })).sort(byPath);
}

/** Ordinary files only, at most `limit`. */
export async function filesOf(
  folder: string,
  { limit, ...options }: ToolOptions & { depth?: number; limit: number },
): Promise<string[]> {
  const entries = await entriesOf(folder, options);
  return entries.flatMap(({ type, path }) => (type === "f" ? [path] : [])).slice(0, limit);
}

function byPath({ path: a }: Entry, { path: b }: Entry): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
