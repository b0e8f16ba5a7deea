// The process that listens on the runtime's socket: its inode from /proc/net/unix, then who holds it, among the processes whose
// names are runtimes'. All of this machine's processes are too many to look into.
import { readdirSync, readlinkSync } from "node:fs";
import { listKernelDirectories, type ReadText } from "../cgroup/kernel-file.js";

/** Flag of a listening socket in /proc/net/unix (__SO_ACCEPTCON). */
const LISTENS = "00010000";
/** Of containerd's processes the daemon alone; cri-o, cri-dockerd. */
const RUNTIME = /containerd$|cri/;

/** undefined: nobody listens there, or it cannot be seen from here. */
export function socketOwner(socket: string, read: ReadText): number | undefined {
  const inode = listeningInode(read("/proc/net/unix") ?? "", socket);
  if (inode === undefined) return undefined;
  const pid = listKernelDirectories("/proc").find(
    (each) => /^\d+$/.test(each) && RUNTIME.test((read(`/proc/${each}/comm`) ?? "").trim()) && holds(each, inode),
  );
  return pid === undefined ? undefined : Number(pid);
}

/** Lines "Num RefCount Protocol Flags Type St Inode Path". */
export function listeningInode(table: string, socket: string): string | undefined {
  for (const line of table.split("\n")) {
    const [, , , flags, , , inode, ...path] = line.trim().split(/\s+/);
    if (flags === LISTENS && path.join(" ") === socket) return inode;
  }
  return undefined;
}

function holds(pid: string, inode: string): boolean {
  const wanted = `socket:[${inode}]`;
  try {
    return readdirSync(`/proc/${pid}/fd`).some((fd) => linkOf(`/proc/${pid}/fd/${fd}`) === wanted);
  } catch {
    // It ended.
    return false;
  }
}

export function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}
