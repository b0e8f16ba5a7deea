// The end of a container's output, from its log in the format of CRI or of the Docker Engine. After a rotation shortly
// before the exit, the earlier lines are in the newest rotated file. That file is never compressed.

import { basename, dirname } from "node:path";
import { errorCode } from "../../../shared/base/errors/error-code.js";
import { FileGoneError, readTail } from "../../../shared/io/fs/untrusted-file.js";
import { inUntrustedFolder, namesOf } from "../../../shared/io/fs/untrusted-folder.js";
import type { ContainerId } from "../../../shared/kubernetes/identifiers.js";
import { parseJsonRecord } from "../../../shared/node/container-logs/json-record.js";
import { onLogFile } from "../../../shared/node/container-logs/own-log-link.js";
import { logFallbackLimit, logFallbackLines } from "./termination-message.js";

/**
 * Surely holds the last 2048 bytes of output. In Docker's format a part of 16 KiB takes up to six times as much, as
 * each control character has six bytes.
 */
export const TAIL_BYTES = 128 * 1024;
const LINE = /^\S+ (?:stdout|stderr) (\S+) (.*)$/s;

/** @throws NotFolderError, NotRegularFileError, or a system error; a removed log is empty */
export async function outputTail(path: string, containerId: ContainerId): Promise<string> {
  const directory = dirname(path);
  const outputIn = (folder: string) => async (name: string) =>
    outputOf(await onLogFile({ folder, directory, name, containerIds: [containerId] }, tailIfThere));
  try {
    return await inUntrustedFolder(directory, (folder) => outputOfRun(folder, basename(path), outputIn(folder)));
  } catch (error) {
    if (errorCode(error) === "ENOENT") return "";
    throw error;
  }
}

/** @param outputOf undefined when there is no such file */
async function outputOfRun(
  folder: string,
  current: string,
  outputOf: (name: string) => Promise<string | undefined>,
): Promise<string> {
  const newest = await outputOf(current);
  const isEnough =
    newest !== undefined &&
    (Buffer.byteLength(newest) >= logFallbackLimit || newest.split("\n").length > logFallbackLines);
  if (isEnough) return newest;
  const before = await rotatedBefore(folder, current);
  return ((before === undefined ? undefined : await outputOf(before)) ?? "") + (newest ?? "");
}

/** FILE.YYYYMMDD-HHMMSS, the latest of them. */
async function rotatedBefore(folder: string, current: string): Promise<string | undefined> {
  const start = `${current}.`;
  const rotated = await namesOf(
    folder,
    (name) => name.startsWith(start) && /^\d{8}-\d{6}$/.test(name.slice(start.length)),
  );
  return rotated.sort().at(-1);
}

type Tail = Awaited<ReturnType<typeof readTail>>;

async function tailIfThere(path: string): Promise<Tail | undefined> {
  try {
    return await readTail(path, TAIL_BYTES);
  } catch (error) {
    if (error instanceof FileGoneError) return undefined;
    throw error;
  }
}

function outputOf(tail: Tail | undefined): string | undefined {
  return tail === undefined ? undefined : textOf(tail.bytes.toString("utf8"), tail.whole);
}

/** The text of the records, partial ones joined. */
function textOf(log: string, whole: boolean): string {
  let output = "";
  let known = false;
  const [first = "", ...rest] = log.split("\n");
  for (const line of whole ? [first, ...rest] : rest) {
    const text = recordText(line);
    known ||= text !== undefined && line.startsWith("{");
    output += text ?? "";
  }
  // A line that is longer than the part that was read has lost its prefix, but the rest is output. In JSON it is not.
  const isCut = !whole && !known && Buffer.byteLength(output) < logFallbackLimit && recordText(first) === undefined;
  return isCut ? `${first}\n${output}` : output;
}

/** undefined: the line is no record. */
function recordText(line: string): string | undefined {
  const [, tags, text = ""] = LINE.exec(line) ?? [];
  if (tags !== undefined) return tags.split(":")[0] === "P" ? text : `${text}\n`;
  return line.startsWith("{") ? parseJsonRecord(line)?.text : undefined;
}
