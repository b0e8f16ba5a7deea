// Finds the process that listens on the runtime's socket. The inode is in /proc/net/unix; its holder is one of the
// processes with a runtime's name. All of this machine's processes are too many to look into.

import { type ReadText, listKernelDirectories, listOpenFiles } from "../../../../shared/node/stats/kernel-file.js";

/** Flag of a listening socket in /proc/net/unix (__SO_ACCEPTCON). */
const LISTENS = "00010000";
/** Names of runtime daemons: containerd without its shims, cri-o, cri-dockerd. */
const RUNTIME = /containerd$|cri/;

/** undefined: no process listens there, or it is not visible from here. */
export function socketOwner(socket: string, read: ReadText): number | undefined {
  const inode = listeningInode(read("/proc/net/unix") ?? "", socket);
  if (inode === undefined) return undefined;
  const wanted = `socket:[${inode}]`;
  const pid = listKernelDirectories("/proc").find(
    (each) =>
      /^\d+$/.test(each) &&
      RUNTIME.test((read(`/proc/${each}/comm`) ?? "").trim()) &&
      listOpenFiles(each).includes(wanted),
  );
  return pid === undefined ? undefined : Number(pid);
}

/** Lines "Num RefCount Protocol Flags Type St Inode Path". @internal */
export function listeningInode(table: string, socket: string): string | undefined {
  for (const line of table.split("\n")) {
    const [, , , flags, , , inode, ...path] = line.trim().split(/\s+/);
    if (flags === LISTENS && path.join(" ") === socket) return inode;
  }
  return undefined;
}
