// One rotation: removes the files beyond the allowed number and renames the current file. Then the runtime opens a new
// one. It needs no disk space, so it works on a full disk.
// Invariant: no line is lost. Until the runtime has reopened the log it writes to the renamed file. If the call fails,
// the file gets its old name back, unless the runtime has created a new file meanwhile.

import { link, rename, unlink } from "node:fs/promises";
import { join } from "node:path";
import { errorCode } from "../../../shared/base/errors/error-code.js";
import { OperatorError } from "../../../shared/base/errors/operator-error.js";
import { messageOf } from "../../../shared/base/errors/thrown.js";
import { inUntrustedFolder, namesOf } from "../../../shared/io/fs/untrusted-folder.js";
import { COMPRESSED } from "../../../shared/node/container-logs/file-names.js";
import { planRotation } from "./plan-rotation.js";

/** What became of a renamed file after the runtime refused to open a new one. */
type Outcome = "name restored" | "new file" | "removed";

const OUTCOMES: Readonly<Record<Outcome, string>> = {
  "name restored": "the container keeps writing to the old file",
  "new file": "the runtime created a new file nevertheless",
  removed: "somebody removed the old file meanwhile",
};

function reopenLogError(path: string, outcome: Outcome, cause: unknown): OperatorError {
  const reason = messageOf(cause);
  return new OperatorError(`cannot rotate log ${path}: ${reason}; ${OUTCOMES[outcome]}; trying again`, { cause });
}

export interface RotateOptions {
  directory: string;
  /** Name of the file being written. */
  current: string;
  maxFiles: number;
  now: Date;
  inWork: ReadonlySet<string>;
  /** CRI ReopenContainerLog. */
  reopen(): Promise<void>;
}

/** @throws OperatorError, or the system's error when a file could not be renamed or removed */
export async function rotateLog(options: RotateOptions): Promise<void> {
  await inUntrustedFolder(options.directory, (folder) => rotateIn(folder, options));
}

/** @param folder a path of the opened directory */
async function rotateIn(folder: string, options: RotateOptions): Promise<void> {
  const { current } = options;
  const names = await namesOf(folder, (name) => name.startsWith(current));
  const plan = planRotation(names, current, options);
  for (const name of plan.remove) {
    const compressed = name + COMPRESSED;
    const wasThere = await removeFile(join(folder, name));
    // Its compression ended meanwhile. One that was there before has the lines of a file that is left over.
    if (!wasThere && !names.includes(compressed)) await removeFile(join(folder, compressed));
  }
  const path = join(folder, current);
  const rotated = join(folder, plan.rotated);
  await rename(path, rotated);
  try {
    await options.reopen();
  } catch (error) {
    throw reopenLogError(join(options.directory, current), await giveNameBack(rotated, path), error);
  }
}

/** Uses link(), because it never replaces a file: a call that failed here may have succeeded in the runtime. */
async function giveNameBack(rotated: string, path: string): Promise<Outcome> {
  try {
    await link(rotated, path);
  } catch (error) {
    const code = errorCode(error);
    if (code === "EEXIST") return "new file";
    if (code === "ENOENT") return "removed";
    throw error;
  }
  await unlink(rotated);
  return "name restored";
}

/** False: it was gone. */
async function removeFile(path: string): Promise<boolean> {
  try {
    await unlink(path);
    return true;
  } catch (error) {
    if (errorCode(error) !== "ENOENT") throw error;
    return false;
  }
}
