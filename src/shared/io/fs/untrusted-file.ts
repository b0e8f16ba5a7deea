// Opens files whose path or content a pod can shape: termination messages, container logs, env files, node logs.
// Invariant: only a regular file is ever opened for reading. A FIFO would hold a thread for ever, and opening a device
// can have effects of its own. Therefore O_PATH, which opens nothing, gets the inode. Its kind is checked, and then
// this inode is opened. So a rename between the two steps has no effect. Reads end at a limit of the caller, not at
// the size the file had.

import { closeSync, constants, fstatSync, openSync, type BigIntStats } from "node:fs";
import { lstat, open, realpath, type FileHandle } from "node:fs/promises";
import { errorCode } from "../../base/errors/error-code.js";
import { OperatorError } from "../../base/errors/operator-error.js";

/** Bytes of one read from a file that has grown, or that has no size, as files of the kernel. */
const PIECE_BYTES = 64 * 1024;
/** Node does not name the flag. */
export const O_PATH = 0o10000000;
/** O_NONBLOCK also refuses to wait for another process's lease on the file. Node itself adds O_CLOEXEC. */
const READ = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;
/** Creates the file, or opens it with its content. */
const WRITE = constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;
const APPEND = constants.O_RDWR | constants.O_APPEND | constants.O_NONBLOCK | constants.O_NOCTTY;
/** The path leads nowhere: a part of it is missing, no directory, too long, or a circle of links. */
const GONE = new Set(["ENOENT", "ENOTDIR", "ELOOP", "ENAMETOOLONG"]);

/** There is no such file, or no longer. */
export class FileGoneError extends Error {
  override readonly name = "FileGoneError";
  readonly code = "ENOENT";
  constructor(path: string, cause: unknown) {
    super(`no file at ${path}`, { cause });
  }
}

/** The path is a symbolic link, FIFO, device, socket or directory instead of a regular file; it was not opened. */
export class NotRegularFileError extends Error {
  override readonly name = "NotRegularFileError";
  constructor(path: string, stats: BigIntStats) {
    super(`${path} is a ${kindOf(stats)}, not a regular file; the kubelet does not open it`);
  }
}

/** The file is longer than its reader accepts. */
export class FileTooLargeError extends OperatorError {
  override readonly name = "FileTooLargeError";
  constructor(path: string, maxBytes: number) {
    super(`${path} is larger than ${shown(maxBytes)}`);
  }
}

export interface UntrustedOptions {
  /** Links in the last component are followed, e.g. below /var/log; without it, such a link is no regular file. */
  followLink?: boolean;
}

export interface UntrustedFile {
  handle: FileHandle;
  /** As it was when it was opened: a container may be writing to it. */
  stats: BigIntStats;
}

/** The caller closes the handle. @throws FileGoneError, NotRegularFileError, or a system error */
export async function openUntrusted(path: string, options: UntrustedOptions = {}): Promise<UntrustedFile> {
  let place: FileHandle;
  try {
    place = await open(path, placeFlags(options));
  } catch (error) {
    throw asGone(path, error);
  }
  try {
    return await openPlace(place, path);
  } finally {
    await place.close();
  }
}

/** Opens the file of an O_PATH handle; the handle stays open. @throws NotRegularFileError, or a system error */
export async function openPlace(place: FileHandle, path: string): Promise<UntrustedFile> {
  const stats = await place.stat({ bigint: true });
  if (!stats.isFile()) throw new NotRegularFileError(path, stats);
  return { handle: await open(itself(place.fd), READ), stats };
}

/** As openUntrusted, for threads of the tasks pool. */
export function openUntrustedSync(path: string, options: UntrustedOptions = {}): { fd: number; stats: BigIntStats } {
  let place: number;
  try {
    place = openSync(path, placeFlags(options));
  } catch (error) {
    throw asGone(path, error);
  }
  try {
    const stats = fstatSync(place, { bigint: true });
    if (!stats.isFile()) throw new NotRegularFileError(path, stats);
    return { fd: openSync(itself(place), READ), stats };
  } finally {
    closeSync(place);
  }
}

/** Creates a file for writing, for threads of the tasks pool. @throws EEXIST if the path exists, even as a link */
export function createNewSync(path: string, mode: number): number {
  return openSync(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, mode);
}

/**
 * Opens a file for reading and appending; one that does not exist is created. The caller closes it.
 * @throws NotRegularFileError, or a system error
 */
export async function appendUntrusted(path: string, mode: number): Promise<FileHandle> {
  let place: FileHandle;
  try {
    place = await open(path, placeFlags({}));
  } catch (error) {
    if (errorCode(error) !== "ENOENT") throw error;
    return await open(path, APPEND | constants.O_CREAT | constants.O_EXCL, mode);
  }
  try {
    const stats = await place.stat({ bigint: true });
    if (!stats.isFile()) throw new NotRegularFileError(path, stats);
    return await open(itself(place.fd), APPEND);
  } finally {
    await place.close();
  }
}

/** The last `maxBytes` of the file, and whether that is all of it. @throws as openUntrusted */
export async function readTail(path: string, maxBytes: number): Promise<{ bytes: Buffer; whole: boolean }> {
  const { handle, stats } = await openUntrusted(path);
  try {
    return await tailOf(handle, Number(stats.size), maxBytes);
  } finally {
    await handle.close();
  }
}

/** As readTail, of an open file of this size. */
export async function tailOf(
  handle: FileHandle,
  size: number,
  maxBytes: number,
): Promise<{ bytes: Buffer; whole: boolean }> {
  // Most containers write no termination message.
  if (size === 0) return { bytes: Buffer.alloc(0), whole: true };
  const start = Math.max(0, size - maxBytes);
  return { bytes: await readAtMost(handle, Math.min(size, maxBytes), start), whole: start === 0 };
}

/**
 * Writes a file that containers have mounted, in place. A full disk leaves its content, as nothing is cut before the
 * new text is there. Their processes may hold a lease on it, and a plain open would wait for that.
 * @throws a system error, EAGAIN where there is a lease
 */
export async function writeUntrusted(path: string, text: string | Uint8Array, mode: number): Promise<void> {
  const bytes = typeof text === "string" ? Buffer.from(text) : text;
  const handle = await open(path, WRITE, mode);
  try {
    await handle.writeFile(bytes);
    await handle.truncate(bytes.length);
  } finally {
    await handle.close();
  }
}

/**
 * Whether links at or above the path stay within the folder. The caller has checked that no mount on the way may hang.
 */
export async function staysWithin(folder: string, path: string): Promise<boolean> {
  const [root, real] = await Promise.all([realpath(folder), realpath(path)]);
  return real.startsWith(`${root}/`);
}

/** Reads the attributes of a path without opening it. @throws FileGoneError, NotRegularFileError, or a system error */
export async function statUntrusted(path: string): Promise<BigIntStats> {
  let stats: BigIntStats;
  try {
    stats = await lstat(path, { bigint: true });
  } catch (error) {
    throw asGone(path, error);
  }
  if (!stats.isFile()) throw new NotRegularFileError(path, stats);
  return stats;
}

/**
 * The whole file, also if it has grown since it was opened. Takes no more memory than its content needs.
 * @throws FileTooLargeError, or a system error
 */
export async function readWhole({ handle, stats }: UntrustedFile, path: string, maxBytes: number): Promise<Buffer> {
  if (stats.size > maxBytes) throw new FileTooLargeError(path, maxBytes);
  const pieces: Buffer[] = [];
  // One byte more than the file has shows that it has grown.
  let room = hasSize(stats) ? Number(stats.size) + 1 : PIECE_BYTES;
  for (let total = 0; ; room = PIECE_BYTES) {
    const piece = Buffer.allocUnsafeSlow(room);
    const { bytesRead } = await handle.read(piece, 0, room, total);
    total += bytesRead;
    if (total > maxBytes) throw new FileTooLargeError(path, maxBytes);
    pieces.push(piece.subarray(0, bytesRead));
    if (hasSize(stats) ? bytesRead === room : bytesRead > 0) continue;
    const [first] = pieces;
    return first !== undefined && pieces.length === 1 ? first : Buffer.concat(pieces, total);
  }
}

/** False for a file of the kernel: a read gives one page of it at most. */
function hasSize({ size }: BigIntStats): boolean {
  return size > 0;
}

/** Up to `length` bytes from `start`; fewer where the file ends. */
async function readAtMost(handle: FileHandle, length: number, start: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafeSlow(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await handle.read(buffer, filled, length - filled, start + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}

function placeFlags({ followLink = false }: UntrustedOptions): number {
  return followLink ? O_PATH : O_PATH | constants.O_NOFOLLOW;
}

function itself(fd: number): string {
  return `/proc/self/fd/${fd}`;
}

function asGone(path: string, error: unknown): unknown {
  return GONE.has(errorCode(error) ?? "") ? new FileGoneError(path, error) : error;
}

function kindOf(stats: BigIntStats): string {
  if (stats.isSymbolicLink()) return "symbolic link";
  if (stats.isDirectory()) return "directory";
  if (stats.isFIFO()) return "FIFO";
  if (stats.isSocket()) return "socket";
  return "device";
}

function shown(bytes: number): string {
  return bytes % (1024 * 1024) === 0 ? `${bytes / 1024 / 1024} MiB` : `${bytes} bytes`;
}
