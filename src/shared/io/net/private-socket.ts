// Binds a unix socket where only this user can reach it, sets its permissions, then renames it to its path.
// Invariant: at no moment can others connect than its mode allows, whatever the umask; the path has a socket that
// listens, or the one before.

import { chmod, chown, mkdtemp, rename, rm, stat, unlink } from "node:fs/promises";
import type { Server } from "node:net";
import { dirname, join } from "node:path";
import { errorCode } from "../../base/errors/error-code.js";

/** Bytes of sun_path without its final zero. */
const LONGEST_PATH = 107;
const TEMPORARY = ".s-";
const OF_TEMPORARY = `/${TEMPORARY}XXXXXX/s`.length;

export interface BoundSocket {
  /** Removes the file, unless another process has replaced it. */
  remove(): Promise<void>;
}

export function isTooLong(path: string): boolean {
  return Math.max(Buffer.byteLength(path), Buffer.byteLength(dirname(path)) + OF_TEMPORARY) > LONGEST_PATH;
}

/** `listen` binds the given path. The folder of `path` exists; a file at `path` is replaced. */
export async function bindPrivately(
  path: string,
  listen: (path: string) => Promise<void>,
  { mode = 0o600, gid }: { mode?: number; gid?: number | undefined } = {},
): Promise<BoundSocket> {
  if (isTooLong(path)) throw new Error(`${path} is too long for a unix socket (${LONGEST_PATH} bytes)`);
  // mkdtemp makes a directory that only this user may enter.
  const own = await mkdtemp(join(dirname(path), TEMPORARY));
  const bound = join(own, "s");
  try {
    await listen(bound);
    await chmod(bound, mode);
    if (gid !== undefined) await chown(bound, process.getuid?.() ?? 0, gid);
    const { ino } = await stat(bound);
    await rename(bound, path);
    return { remove: () => removeSame(path, ino) };
  } finally {
    await rm(own, { recursive: true, force: true });
  }
}

/** For `listen` of a server of Node. */
export function listenAt(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(path, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

async function removeSame(path: string, ino: number): Promise<void> {
  try {
    if ((await stat(path)).ino === ino) await unlink(path);
  } catch (error) {
    if (errorCode(error) !== "ENOENT") throw error;
  }
}
