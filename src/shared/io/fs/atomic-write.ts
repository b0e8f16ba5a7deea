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
export function atomicWrite(path: string, data: string | Uint8Array, options: AtomicWriteOptions = {}): Promise<void> {
  return throughTemporary(path, data, options, (temp) => rename(temp, path));
}

/**
 * As atomicWrite. `place` gives the whole temporary file the name `path`, or removes it.
 * @returns the result of `place`
 */
export async function throughTemporary<T>(
  path: string,
  data: string | Uint8Array,
  options: AtomicWriteOptions,
  place: (temp: string) => Promise<T>,
): Promise<T> {
  const durable = options.durable ?? true;
  const folder = dirname(path);
  const temp = join(folder, `${TEMP_PREFIX}${basename(path)}-${randomBytes(6).toString("hex")}`);
  try {
    const file = await openIn(folder, temp, options.mode ?? 0o600, durable);
    try {
      await file.writeFile(data);
      if (durable) await file.sync();
    } finally {
      await file.close();
    }
    const placed = await place(temp);
    if (durable) await syncFolder(folder);
    return placed;
  } catch (error) {
    await unlink(temp).catch(() => undefined);
    throw asDiskFull(path, error);
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
