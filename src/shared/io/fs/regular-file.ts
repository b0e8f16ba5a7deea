// Reads a whole file of the node: the operator's (certificates, kubeconfigs, resolv.conf), and the kubelet's own state
// and records. Links are followed.
// Invariant: a path that is no regular file is refused without being opened. A read of a FIFO would hold one of the few
// threads for file calls that the whole process has. A file never takes more memory than its limit, also if it grows.

import { errorCode } from "../../base/errors/error-code.js";
import { FileGoneError, openUntrusted, readWhole, type UntrustedFile } from "./untrusted-file.js";

/** Certificates, keys and tokens, and small files that the kubelet keeps about one volume, image or pod. */
export const SMALL_FILE_LIMIT = 4 * 1024 * 1024;

/** Rejects with FileTooLargeError, with NotRegularFileError, or with the error of the system call. */
export async function readRegularFile(path: string, maxBytes = SMALL_FILE_LIMIT): Promise<Buffer> {
  const file = await opened(path);
  try {
    return await readWhole(file, path, maxBytes);
  } finally {
    await file.handle.close();
  }
}

/** As readRegularFile, decoded from UTF-8. */
export async function readRegularText(path: string, maxBytes = SMALL_FILE_LIMIT): Promise<string> {
  return (await readRegularFile(path, maxBytes)).toString("utf8");
}

/** As readRegularText; undefined: there is no such file. */
export async function readTextIfThere(path: string, maxBytes = SMALL_FILE_LIMIT): Promise<string | undefined> {
  try {
    return await readRegularText(path, maxBytes);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

async function opened(path: string): Promise<UntrustedFile> {
  try {
    return await openUntrusted(path, { followLink: true });
  } catch (error) {
    // The system's own error tells more: the call, and why the path leads nowhere.
    throw error instanceof FileGoneError ? error.cause : error;
  }
}
