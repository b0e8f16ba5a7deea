// Binds the admin socket where only root can reach it, sets its permissions, then renames it to its path. The permissions are the whole
// protection: a client that can open it is trusted. Invariant: at no moment can others than root and the group connect. A socket with a
// listening kubelet stays.
import { chmod, chown, mkdir, mkdtemp, readFile, rename, rm, stat, unlink } from "node:fs/promises";
import { createConnection, type Server } from "node:net";
import { dirname, join } from "node:path";
import { errorCode } from "../../../shared/errors/thrown.js";

/** Bytes of sun_path without its final zero. */
const LONGEST_PATH = 107;
const OF_TEMPORARY = "/.admin-XXXXXX/s".length;

class AdminSocketError extends Error {
  override readonly name = "AdminSocketError";
}

export interface BoundSocket {
  /** Removes the file, unless another process has replaced it. */
  remove(): Promise<void>;
}

/** Rejects with AdminSocketError or the system's error; the server does not listen then. */
export async function bindSocket(server: Server, path: string, group: string): Promise<BoundSocket> {
  const folder = dirname(path);
  if (!path.startsWith("/")) throw new AdminSocketError("the path must be absolute");
  if (Math.max(path.length, folder.length + OF_TEMPORARY) > LONGEST_PATH) {
    throw new AdminSocketError(`the path is too long for a unix socket (${LONGEST_PATH} bytes)`);
  }
  const gid = group === "" ? undefined : await gidOf(group);
  await mkdir(folder, { recursive: true, mode: 0o755 });
  if (await isAnswered(path)) throw new AdminSocketError("another process listens there");
  // mkdtemp makes a directory that only this user may enter.
  const own = await mkdtemp(join(folder, ".admin-"));
  const bound = join(own, "s");
  try {
    await listen(server, bound);
    await chmod(bound, gid === undefined ? 0o600 : 0o660);
    if (gid !== undefined) await chown(bound, process.getuid?.() ?? 0, gid);
    const { ino } = await stat(bound);
    await rename(bound, path);
    return { remove: () => removeSame(path, ino) };
  } catch (error) {
    server.close();
    throw error;
  } finally {
    await rm(own, { recursive: true, force: true });
  }
}

/** @throws AdminSocketError when the machine has no such group @internal */
export async function gidOf(group: string, file = "/etc/group"): Promise<number> {
  if (/^\d{1,9}$/.test(group)) return Number(group);
  for (const line of (await readFile(file, "utf8")).split("\n")) {
    const [name, , gid] = line.split(":");
    if (name === group && gid !== undefined && /^\d{1,9}$/.test(gid)) return Number(gid);
  }
  throw new AdminSocketError(`the group "${group}" is not in ${file}`);
}

/** The socket file of a killed kubelet refuses connections. */
function isAnswered(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(path);
    const settle = (answered: boolean): void => {
      socket.destroy();
      resolve(answered);
    };
    socket.once("connect", () => settle(true)).once("error", () => settle(false));
  });
}

function listen(server: Server, path: string): Promise<void> {
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
