// Enters and lists folders in which a pod can plant entries, e.g. log folders of a pod that mounts /var/log.
// Invariant: no symbolic link in the folder's place is followed. So no call leads to another pod's files or to a mount
// that does not respond. A listing holds a bounded number of names, for any number of entries, and other work runs
// between its parts.

import { constants, type Dirent } from "node:fs";
import { open, opendir, readdir, stat, type FileHandle } from "node:fs/promises";
import { dirname } from "node:path";
import { errorCode } from "../../base/errors/error-code.js";
import { O_PATH } from "./untrusted-file.js";

/** A container's log folder and its pod's: both are made by the kubelet or the runtime, never as links. */
const LOG_LEVELS = 2;
/** Names kept of one folder. */
export const MOST_NAMES = 10_000;
/** Limit of read entries. A million takes seconds, during which other work continues. */
export const MOST_ENTRIES = 1_000_000;
/** Entries of one call in libuv's pool, and of one turn of the event loop. */
const BATCH = 256;
/**
 * Size of a folder that holds a few hundred entries at most; an entry takes at least 16 bytes, on some file systems 1.
 */
const SMALL_BYTES = 4096;

/** The path is a symbolic link, FIFO, device, socket or file instead of a folder; it was not entered. */
export class NotFolderError extends Error {
  override readonly name = "NotFolderError";
  readonly code = "ENOTDIR";
  constructor(path: string) {
    super(`${path} is not a directory, or is a symbolic link to one; the kubelet does not enter it`);
  }
}

export class FolderTooBigError extends Error {
  override readonly name = "FolderTooBigError";
  constructor(path: string, most: number) {
    super(`${path} holds more than ${most} entries; remove those that do not belong there`);
  }
}

/**
 * Does the work with a path that stays the folder's, even if another folder gets its name meanwhile. The last `levels`
 * components are no links. Errors name the folder itself.
 * @throws NotFolderError, or a system error
 */
export async function inUntrustedFolder<T>(
  folder: string,
  work: (path: string) => Promise<T>,
  levels = LOG_LEVELS,
): Promise<T> {
  const handle = await openFolder(folder, levels);
  const path = `/proc/self/fd/${handle.fd}`;
  try {
    return await work(path);
  } catch (error) {
    if (error instanceof Error) error.message = error.message.replaceAll(path, folder);
    throw error;
  } finally {
    await handle.close();
  }
}

async function openFolder(path: string, levels: number): Promise<FileHandle> {
  if (levels === 0 || path === "/") return await open(path, O_PATH | constants.O_DIRECTORY);
  const parent = await openFolder(dirname(path), levels - 1);
  try {
    // With O_DIRECTORY the kernel opens nothing but a directory, and no link, so no check has to follow.
    const flags = O_PATH | constants.O_NOFOLLOW | constants.O_DIRECTORY;
    return await open(`/proc/self/fd/${parent.fd}/${path.slice(path.lastIndexOf("/") + 1)}`, flags);
  } catch (error) {
    throw errorCode(error) === "ENOTDIR" ? new NotFolderError(path) : error;
  } finally {
    await parent.close();
  }
}

/**
 * A small folder in one part, others in several; the folder is closed on every way out. Most folders of pods are small:
 * one part costs half the system calls of several.
 * @throws FolderTooBigError past a million entries, or a system error
 */
export async function* entriesOf(folder: string): AsyncGenerator<Dirent> {
  const { size } = await stat(folder);
  // File systems of the kernel's own give 0 for every folder.
  if (size > 0 && size <= SMALL_BYTES) {
    yield* await readdir(folder, { withFileTypes: true });
    return;
  }
  let seen = 0;
  for await (const entry of await opendir(folder, { bufferSize: BATCH })) {
    if (++seen > MOST_ENTRIES) throw new FolderTooBigError(folder, MOST_ENTRIES);
    yield entry;
  }
}

/** Time of the folder's last change, ms since the epoch. The caller has checked that no mount on the way may hang. */
export async function folderChangedAt(folder: string): Promise<number> {
  return (await stat(folder)).mtimeMs;
}

/** Whether a link is dangling. The caller has checked that no mount on the way may hang. */
export async function leadsNowhere(link: string): Promise<boolean> {
  try {
    await stat(link);
    return false;
  } catch (error) {
    if (errorCode(error) === "ENOENT" || errorCode(error) === "ENOTDIR") return true;
    throw error;
  }
}

/** Whether it is a directory, links followed. The caller has checked that no mount on the way may hang. */
export async function leadsToFolder(path: string): Promise<boolean> {
  return await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

/** Names that `keep` takes. @throws FolderTooBigError past `most` of them, or a system error */
export async function namesOf(
  folder: string,
  keep: (name: string) => boolean = () => true,
  most = MOST_NAMES,
): Promise<string[]> {
  const names: string[] = [];
  for await (const { name } of entriesOf(folder)) {
    if (!keep(name)) continue;
    if (names.length === most) throw new FolderTooBigError(folder, most);
    names.push(name);
  }
  return names;
}
