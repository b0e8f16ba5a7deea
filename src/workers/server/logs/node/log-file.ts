// A file below the node's log folder, opened for reading. Only regular files are opened: a pipe or device without a
// writer would hold a thread of libuv's pool.
// Invariant: no path leads out of the folder by itself; links are followed as upstream follows them, or, `within`, not
// out.

import { join, posix } from "node:path";
import { errorCode } from "../../../../shared/base/errors/error-code.js";
import {
  NotRegularFileError,
  openUntrusted,
  staysWithin,
  type UntrustedFile,
} from "../../../../shared/io/fs/untrusted-file.js";
import { mountThatMayHang, type HangableMount } from "../../../../shared/node/volume-calls/may-hang.js";

const CHUNK = 64 * 1024;
const ABSENT = new Set(["ENOENT", "ENOTDIR", "ELOOP", "ENAMETOOLONG", "EACCES", "ENXIO"]);

export interface LogFile {
  size: number;
  /** Milliseconds since the epoch. */
  modifiedAt: number;
  /** The bytes of that range as they are now; the file stays open. Fewer if the file became shorter. */
  read(start: number, end: number): AsyncGenerator<Uint8Array>;
  /** The whole file as it is now; closes it. Iterate it, or call close. */
  chunks(): AsyncGenerator<Uint8Array>;
  close(): Promise<void>;
}

/** Resolves a client's path below the folder; ".." never leaves the folder. */
export function pathBelow(folder: string, path: string): string | undefined {
  if (path.includes("\0")) return undefined;
  return join(folder, posix.normalize(`/${path}`));
}

/** undefined: there is no such file. @param options.within links must not lead out of the folder */
export async function openLogFile(
  folder: string,
  path: string,
  options: { within?: boolean } = {},
): Promise<LogFile | undefined> {
  const full = pathBelow(folder, path);
  if (full === undefined) return undefined;
  try {
    await checkOnNode(folder, full);
    if (options.within === true && !(await staysWithin(folder, full))) return undefined;
    return asLogFile(await openUntrusted(full, { followLink: true }));
  } catch (error) {
    if (error instanceof NotRegularFileError) return undefined;
    if (options.within === true && error instanceof LogNotOnNodeError) return undefined;
    if (ABSENT.has(errorCode(error) ?? "")) return undefined;
    throw error;
  }
}

function asLogFile({ handle, stats }: UntrustedFile): LogFile {
  const size = Number(stats.size);
  async function* read(start: number, end: number): AsyncGenerator<Uint8Array> {
    for (let at = start; at < end;) {
      const { bytesRead, buffer } = await handle.read(Buffer.alloc(Math.min(CHUNK, end - at)), 0, undefined, at);
      if (bytesRead === 0) return;
      at += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  }
  return {
    size,
    modifiedAt: Number(stats.mtimeNs) / 1e6,
    close: () => handle.close(),
    read,
    async *chunks() {
      try {
        yield* read(0, size);
      } finally {
        await handle.close();
      }
    },
  };
}

/** The path leads over a mount that may not respond; nothing there was touched. */
export class LogNotOnNodeError extends Error {
  override readonly name = "LogNotOnNodeError";
  constructor(path: string, { source, fsType, mountPoint }: HangableMount) {
    super(
      `${path} leads to ${source} (${fsType}, mounted at ${mountPoint}), which may not respond; ` +
        "the kubelet serves logs of the node's own file systems only",
    );
  }
}

/** The folder itself may be on such a mount: then the operator has put it there. @throws LogNotOnNodeError */
export async function checkOnNode(folder: string, full: string): Promise<void> {
  const mount = await mountThatMayHang(full);
  if (mount === undefined || mount === (await mountThatMayHang(folder))) return;
  throw new LogNotOnNodeError(full, mount);
}
