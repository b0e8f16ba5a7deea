// Replaces a file that people edit, too, and never what they have just written: the new file and the present one change
// their names in one step (renameat2), and change them back if the present one is not what the writer knows.
// Invariant: an edit, a removal or a new file of another process is never written over, at whatever moment it comes. A
// process that opened the file before and writes after the change of names has its text in the former file.

import { rename, unlink } from "node:fs/promises";
import { errorCode } from "../../base/errors/error-code.js";
import { throughTemporary } from "../fs/atomic-write.js";
import { readRegularText, readTextIfThere } from "../fs/regular-file.js";
import { STATE_LIMIT } from "../fs/state-file.js";
import { NativeBindingError } from "./errors.js";
import { exchangeFiles, moveIfAbsent } from "./rename.js";

/** File systems and kernels without renameat2's flags. */
const UNSUPPORTED = new Set(["EINVAL", "ENOSYS"]);

export interface CheckedWriteOptions {
  /** Permission bits. */
  mode: number;
  /** May a file with this text be replaced? undefined: there is none. */
  mayReplace: (present: string | undefined) => boolean;
}

/**
 * Puts a file in place whole and synced, unless the present one may not be replaced. The folder is made when missing.
 * @returns false: it may not, and is as it was
 * @throws DiskFullError, or the error of a present file that is not a regular one; that file is as it was
 */
export function checkedWrite(path: string, text: string, { mode, mayReplace }: CheckedWriteOptions): Promise<boolean> {
  return throughTemporary(path, text, { mode }, async (temp) => {
    const isWritten = await takePlace(temp, path, mayReplace);
    // The other file has this name: the former one, or the new one that is not wanted.
    await unlink(temp).catch(isMissing);
    return isWritten;
  });
}

async function takePlace(temp: string, path: string, mayReplace: CheckedWriteOptions["mayReplace"]): Promise<boolean> {
  try {
    return (await exchange(temp, path, mayReplace)) ?? (mayReplace(undefined) && (await move(temp, path)));
  } catch (error) {
    if (!(error instanceof NativeBindingError) && !UNSUPPORTED.has(errorCode(error) ?? "")) throw error;
  }
  // An edit between the look and the rename is lost here.
  if (!mayReplace(await readTextIfThere(path, STATE_LIMIT))) return false;
  await rename(temp, path);
  return true;
}

/** undefined: there is no file. */
async function exchange(
  temp: string,
  path: string,
  mayReplace: CheckedWriteOptions["mayReplace"],
): Promise<boolean | undefined> {
  if (!(await exchangeFiles(temp, path).then(() => true, isMissing))) return undefined;
  let isReplaced = false;
  try {
    isReplaced = mayReplace(await readRegularText(temp, STATE_LIMIT));
  } finally {
    // The new file is removed by hand meanwhile: so is the one that it would give way to.
    if (!isReplaced) await exchangeFiles(temp, path).catch(isMissing);
  }
  return isReplaced;
}

/** @returns false: another file came meanwhile */
async function move(temp: string, path: string): Promise<boolean> {
  try {
    await moveIfAbsent(temp, path);
    return true;
  } catch (error) {
    if (errorCode(error) === "EEXIST") return false;
    throw error;
  }
}

function isMissing(error: unknown): false {
  if (errorCode(error) === "ENOENT") return false;
  throw error;
}
