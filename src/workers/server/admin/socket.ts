// Binds the admin socket. Its permissions are the whole protection: a client that can open it is trusted. Invariant: at
// no moment can others than root and the group connect. A socket with a listening kubelet stays.

import { chmod, chown, mkdir, stat } from "node:fs/promises";
import { createConnection, type Server } from "node:net";
import { dirname, resolve } from "node:path";
import { OperatorError } from "../../../shared/base/errors/operator-error.js";
import { bindPrivately, isTooLong, listenAt, type BoundSocket } from "../../../shared/io/net/private-socket.js";
import { groupId } from "../../../shared/io/os/group-id.js";

const OTHERS_SEARCH = 0o001;
const GROUP_SEARCH = 0o010;

export interface SocketPlace {
  readonly path: string;
  /** Name or number of the group whose members may connect; "": none. */
  readonly group: string;
  /** The kubelet's root directory. The folders from it down to the socket are the kubelet's own. */
  readonly rootDir: string;
}

export interface AdminSocket extends BoundSocket {
  /** Why the group cannot reach the socket; root can. */
  readonly problem: string | undefined;
}

/** Rejects with OperatorError or the system's error; the server does not listen then. */
export async function bindSocket(server: Server, { path, group, rootDir }: SocketPlace): Promise<AdminSocket> {
  const folder = dirname(path);
  if (!path.startsWith("/")) throw new OperatorError("the path must be absolute");
  if (isTooLong(path)) throw new OperatorError("the path is too long for a unix socket (107 bytes)");
  const gid = group === "" ? undefined : await groupId(group);
  await mkdir(folder, { recursive: true, mode: 0o755 });
  if (await isAnswered(path)) throw new OperatorError("another process listens there");
  try {
    const mode = gid === undefined ? 0o600 : 0o660;
    const bound = await bindPrivately(path, (temporary) => listenAt(server, temporary), { mode, gid });
    const problem = gid === undefined ? undefined : await letGroupPass(folder, gid, rootDir);
    return { remove: () => bound.remove(), problem };
  } catch (error) {
    server.close();
    throw error;
  }
}

/**
 * Members of the group need search permission for each folder above the socket. The kubelet gives it to its own
 * folders, without the right to list them; it changes no other. Returns why the group cannot pass a folder of others.
 */
async function letGroupPass(folder: string, gid: number, rootDir: string): Promise<string | undefined> {
  const root = resolve(rootDir);
  for (let at = resolve(folder); at !== dirname(at); at = dirname(at)) {
    const { mode, gid: owner, uid } = await stat(at);
    const passes = (mode & OTHERS_SEARCH) !== 0 || (owner === gid && (mode & GROUP_SEARCH) !== 0);
    if (passes) continue;
    const isOwn =
      (at === root || at.startsWith(`${root}/`)) && uid === process.geteuid?.() && owner === process.getegid?.();
    if (!isOwn) return `members of the group cannot reach it: they have no search permission for ${at}`;
    // First the mode: the group must not list the folder at any moment.
    await chmod(at, (mode & 0o7707) | GROUP_SEARCH);
    await chown(at, uid, gid);
  }
  return undefined;
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
