// Reads a whole file of the node: the operator's (certificates, kubeconfigs, resolv.conf), and the kubelet's own state
// and records. Links are followed.
// Invariant: a path that is no regular file is refused without being opened. A read of a FIFO would hold one of the few
// threads for file calls that the whole process has. A file never takes more memory than its limit, also if it grows.

import type { FileHandle } from "node:fs/promises";
import { OperatorError } from "../../base/errors/operator-error.js";
import { FileGoneError, openUntrusted, type UntrustedFile } from "./untrusted-file.js";

/** Certificates, keys and tokens, and small files that the kubelet keeps about one volume, image or pod. */
export const SMALL_FILE_LIMIT = 4 * 1024 * 1024;

/** The file is longer than its reader accepts. */
export class FileTooLargeError extends OperatorError {
  override readonly name = "FileTooLargeError";
  constructor(path: string, maxBytes: number) {
    super(`${path} is larger than ${shown(maxBytes)}`);
  }
}

/** Rejects with FileTooLargeError, with NotRegularFileError, or with the error of the system call. */
export async function readRegularFile(path: string, maxBytes = SMALL_FILE_LIMIT): Promise<Buffer> {
  const { handle, stats } = await opened(path);
  try {
    if (stats.size > maxBytes) throw new FileTooLargeError(path, maxBytes);
    return await readUpTo(handle, path, Number(stats.size), maxBytes);
  } finally {
    await handle.close();
  }
}

/** As readRegularFile, decoded from UTF-8. */
export async function readRegularText(path: string, maxBytes = SMALL_FILE_LIMIT): Promise<string> {
  return (await readRegularFile(path, maxBytes)).toString("utf8");
}

async function opened(path: string): Promise<UntrustedFile> {
  try {
    return await openUntrusted(path, { followLink: true });
  } catch (error) {
    // The system's own error tells more: the call, and why the path leads nowhere.
    throw error instanceof FileGoneError ? error.cause : error;
  }
}

async function readUpTo(handle: FileHandle, path: string, size: number, maxBytes: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  // One byte more than the file has shows that it has grown.
  let room = size + 1;
  for (let total = 0; ; room = 64 * 1024) {
    const piece = Buffer.allocUnsafeSlow(room);
    const { bytesRead } = await handle.read(piece, 0, room, total);
    total += bytesRead;
    if (total > maxBytes) throw new FileTooLargeError(path, maxBytes);
    pieces.push(piece.subarray(0, bytesRead));
    if (bytesRead < room) return pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces);
  }
}

function shown(bytes: number): string {
  return bytes % (1024 * 1024) === 0 ? `${bytes / 1024 / 1024} MiB` : `${bytes} bytes`;
}
