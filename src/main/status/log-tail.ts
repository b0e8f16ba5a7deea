// The end of what a container wrote, out of its log in CRI format. The log may have been rotated a moment before the
// container ended: then the file that was rotated last, which is never compressed, has the lines before.
import { basename, dirname, join } from "node:path";
import { errorCode } from "../../shared/errors/error-code.js";
import { FileGoneError, readTail } from "../../shared/fs/untrusted-file.js";
import { inUntrustedFolder, namesOf } from "../../shared/fs/untrusted-folder.js";
import { logFallbackLimit, logFallbackLines } from "./termination-message.js";

/** Surely holds the last 2048 bytes of output, prefixes and stream tags included. */
const TAIL_BYTES = 64 * 1024;
const LINE = /^\S+ (?:stdout|stderr) (\S+) (.*)$/;

/** @throws NotFolderError, NotRegularFileError, or a system error; a log that is gone is empty */
export async function outputTail(path: string): Promise<string> {
  try {
    return await inUntrustedFolder(dirname(path), (folder) => outputOfRun(join(folder, basename(path))));
  } catch (error) {
    if (errorCode(error) === "ENOENT") return "";
    throw error;
  }
}

async function outputOfRun(path: string): Promise<string> {
  const newest = await outputOf(path);
  if (newest === undefined) {
    const before = await rotatedBefore(path);
    return before === undefined ? "" : ((await outputOf(before)) ?? "");
  }
  if (Buffer.byteLength(newest) >= logFallbackLimit || newest.split("\n").length > logFallbackLines) return newest;
  const before = await rotatedBefore(path);
  return before === undefined ? newest : ((await outputOf(before)) ?? "") + newest;
}

/** FILE.YYYYMMDD-HHMMSS, the latest of them. */
async function rotatedBefore(path: string): Promise<string | undefined> {
  const start = `${basename(path)}.`;
  const rotated = await namesOf(
    dirname(path),
    (name) => name.startsWith(start) && /^\d{8}-\d{6}$/.test(name.slice(start.length)),
  );
  const latest = rotated.sort().at(-1);
  return latest === undefined ? undefined : join(dirname(path), latest);
}

/** undefined when there is no such file. */
async function outputOf(path: string): Promise<string | undefined> {
  try {
    const { bytes, whole } = await readTail(path, TAIL_BYTES);
    return textOf(bytes.toString("utf8"), whole);
  } catch (error) {
    if (error instanceof FileGoneError) return undefined;
    throw error;
  }
}

/** The text of "TIME STREAM TAGS TEXT" lines, partial ones joined. */
function textOf(log: string, whole: boolean): string {
  let output = "";
  const [first = "", ...rest] = log.split("\n");
  for (const line of whole ? [first, ...rest] : rest) {
    const [, tags, text = ""] = LINE.exec(line) ?? [];
    if (tags === undefined) continue;
    output += tags.split(":")[0] === "P" ? text : `${text}\n`;
  }
  // A single line longer than all that was read has lost its prefix, but what there is of it is output.
  return !whole && Buffer.byteLength(output) < logFallbackLimit && !LINE.test(first) ? `${first}\n${output}` : output;
}
