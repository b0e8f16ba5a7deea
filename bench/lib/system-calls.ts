// System calls of a process and of the programs that it starts, counted by strace and put together by kind.

import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFile, rm } from "node:fs/promises";
import { waitFor } from "../../tools/standalone/wait.js";

/** Kind, as the tables show it, to the system calls of that kind. */
const KINDS: Readonly<Record<string, readonly string[]>> = {
  "files opened": ["open", "openat", "openat2", "creat"],
  "files looked up": [
    "stat",
    "lstat",
    "fstat",
    "newfstatat",
    "statx",
    "access",
    "faccessat",
    "faccessat2",
    "readlink",
    "readlinkat",
    "statfs",
    "fstatfs",
  ],
  "directories read": ["getdents64"],
  "directories made": ["mkdir", "mkdirat"],
  "names changed or removed": [
    "rename",
    "renameat",
    "renameat2",
    "unlink",
    "unlinkat",
    "rmdir",
    "symlink",
    "symlinkat",
    "link",
    "linkat",
  ],
  "modes and owners set": ["chmod", "fchmod", "fchmodat", "chown", "fchown", "lchown", "fchownat", "utimensat"],
  "syncs to disk": ["fsync", "fdatasync", "sync_file_range", "syncfs"],
  mounts: ["mount", "umount2"],
  "programs started": ["execve", "execveat"],
  "reads (files, sockets, eventfds)": ["read", "pread64", "readv", "preadv", "recvmsg", "recvfrom"],
  "writes (files, sockets, eventfds)": ["write", "pwrite64", "writev", "pwritev", "sendmsg", "sendto"],
  "waits and wake-ups of threads": ["futex", "epoll_wait", "epoll_pwait", "epoll_pwait2"],
};

export function hasStrace(): boolean {
  return spawnSync("strace", ["--version"], { stdio: "ignore" }).status === 0;
}

/** Counts from the first call until {@link stop}. The process is several times slower meanwhile. */
export class SystemCallCount {
  private constructor(
    private readonly strace: ChildProcess,
    private readonly output: string,
  ) {}

  /** `output`: a file of its own. Resolves when all threads are attached. */
  static async start(pid: number, output: string): Promise<SystemCallCount> {
    const strace = spawn("strace", ["-f", "-c", "-U", "calls,name", "-o", output, "-p", String(pid)], {
      stdio: ["ignore", "ignore", "pipe"],
    });
    const tracer = new RegExp(`^TracerPid:\\s+${strace.pid ?? 0}$`, "m");
    await waitFor(async () => tracer.test(await readFile(`/proc/${pid}/status`, "utf8")), {
      what: `strace to attach to process ${pid}`,
    });
    strace.stderr.resume();
    return new SystemCallCount(strace, output);
  }

  /** Kind to number of calls. */
  async stop(): Promise<Map<string, number>> {
    const ended = once(this.strace, "exit");
    this.strace.kill("SIGINT");
    await ended;
    const calls = parseCounts(await readFile(this.output, "utf8"));
    await rm(this.output);
    return byKind(calls);
  }
}

/** The table of `strace -c -U calls,name`: system call to number of calls. */
export function parseCounts(text: string): Map<string, number> {
  const rows = text.split("\n").map((line) => line.trim().split(/\s+/));
  const calls = rows.filter(([count = "", name = "total"]) => /^\d+$/.test(count) && name !== "total");
  return new Map(calls.map(([count, name = ""]) => [name, Number(count)]));
}

/** Calls of no kind are left out. */
export function byKind(calls: ReadonlyMap<string, number>): Map<string, number> {
  return new Map(
    Object.entries(KINDS).map(([kind, names]) => [kind, names.reduce((sum, name) => sum + (calls.get(name) ?? 0), 0)]),
  );
}
