// The runtime's process, found by its socket and cached while it runs.
import type { Clock } from "../../../../shared/clock/clock.js";
import { isInvalidEndpoint, parseEndpoint } from "../../../../shared/cri/endpoint.js";
import { type ReadText, listKernelDirectories, listOpenFiles } from "../../../../shared/stats/kernel-file.js";

/** One that was not found is looked for again. */
const LOOK_PERIOD_MS = 60_000;

export class RuntimeProcess {
  private found: { pid: number; name: string } | undefined;
  private lookedAt: number | undefined;

  constructor(
    private readonly endpoint: string,
    private readonly read: ReadText,
    private readonly clock: Pick<Clock, "monotonic">,
    private readonly owner: (socket: string, read: ReadText) => number | undefined = socketOwner,
  ) {}

  pid(): number | undefined {
    if (this.found !== undefined && this.nameOf(this.found.pid) !== this.found.name) {
      this.found = undefined;
      this.lookedAt = undefined;
    }
    const now = this.clock.monotonic();
    if (this.found === undefined && (this.lookedAt === undefined || now - this.lookedAt >= LOOK_PERIOD_MS)) {
      this.lookedAt = now;
      const pid = this.look();
      const name = pid === undefined ? undefined : this.nameOf(pid);
      this.found = pid === undefined || name === undefined ? undefined : { pid, name };
    }
    return this.found?.pid;
  }

  private look(): number | undefined {
    try {
      return this.owner(parseEndpoint(this.endpoint).path, this.read);
    } catch (error) {
      if (isInvalidEndpoint(error)) return undefined;
      throw error;
    }
  }

  private nameOf(pid: number): string | undefined {
    return this.read(`/proc/${pid}/comm`);
  }
}

// Finds the process that listens on the runtime's socket. The inode is in /proc/net/unix; its holder is one of the
// processes with a runtime's name. All of this machine's processes are too many to look into.

/** Flag of a listening socket in /proc/net/unix (__SO_ACCEPTCON). */
const LISTENS = "00010000";
/** Of containerd's processes the daemon alone; cri-o, cri-dockerd. */
const RUNTIME = /containerd$|cri/;

/** undefined: no process listens there, or it is not visible from here. */
function socketOwner(socket: string, read: ReadText): number | undefined {
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
