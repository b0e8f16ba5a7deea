// Writes a file completely or not at all. It writes and fsyncs a temporary file beside the target, renames it over the
// target, and fsyncs the folder. Neither a crash nor a full disk leaves half a file under the real name.

import { randomBytes } from "node:crypto";
import { mkdir, open, rename, unlink, type FileHandle } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { errorCode } from "../../base/errors/error-code.js";
import { makeFolder } from "./make-folder.js";
import { syncFolder } from "./sync-folder.js";

/** No space (or quota) for the file; the old content is untouched. */
export class DiskFullError extends Error {
  override readonly name = "DiskFullError";
  constructor(
    readonly path: string,
    cause: unknown,
  ) {
    super(`writing ${path}: no space left on its file system; free some, the last version of the file is kept`, {
      cause,
    });
  }
}

export interface AtomicWriteOptions {
  /** Permission bits; default 0600. */
  mode?: number;
  /**
   * Survives a crash of the machine (default): file and folder are synced to disk. False is for files that are useless
   * after a reboot. They survive the exit of the process, and need no sync of the disk.
   */
  durable?: boolean;
}

/** Prefix of temporary files: hidden, so that folder readers who skip dot files never see one. */
const TEMP_PREFIX = ".tmp-";
const NO_SPACE = new Set(["ENOSPC", "EDQUOT"]);

/**
 * Replaces `path` by `data` in one step; the folder is made when missing. Rejects with DiskFullError on a full disk.
 */
export async function atomicWrite(
  path: string,
  data: string | Uint8Array,
  options: AtomicWriteOptions = {},
): Promise<void> {
  const durable = options.durable ?? true;
  const temp = temporaryFor(path);
  try {
    await writeTemporary(temp, data, options.mode ?? 0o600, durable);
    await rename(temp, path);
    if (durable) await syncFolder(dirname(path));
  } catch (error) {
    await unlink(temp).catch(() => undefined);
    throw asDiskFull(path, error);
  }
}

/** The path of a temporary file beside a target; no two are the same. */
export function temporaryFor(path: string): string {
  return join(dirname(path), `${TEMP_PREFIX}${basename(path)}-${randomBytes(6).toString("hex")}`);
}

/** Writes a temporary file whole; its folder is made when missing. @param durable also syncs it */
export async function writeTemporary(
  temp: string,
  data: string | Uint8Array,
  mode: number,
  durable: boolean,
): Promise<void> {
  const file = await openIn(dirname(temp), temp, mode, durable);
  try {
    await file.writeFile(data);
    if (durable) await file.sync();
  } finally {
    await file.close();
  }
}

/** A DiskFullError if the system's error means a full disk, else the error itself. */
export function asDiskFull(path: string, error: unknown): unknown {
  return NO_SPACE.has(errorCode(error) ?? "") ? new DiskFullError(path, error) : error;
}

/** True for names of atomicWrite's temporary files; one that outlived a crash may be deleted. */
export function isTemporaryName(name: string): boolean {
  return name.startsWith(TEMP_PREFIX);
}

/** The folder is nearly always there: it is made when that turns out wrong. */
async function openIn(folder: string, path: string, mode: number, durable: boolean): Promise<FileHandle> {
  try {
    return await open(path, "wx", mode);
  } catch (error) {
    if (errorCode(error) !== "ENOENT") throw error;
    if (durable) await makeFolder(folder);
    else await mkdir(folder, { recursive: true });
    return await open(path, "wx", mode);
  }
}
