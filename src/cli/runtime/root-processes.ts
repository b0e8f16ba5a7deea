// Processes of a program that root runs in this mount namespace: the daemons of the node's runtime.
// Invariant: another user's process may have the name of a daemon, too; its program is never started, nor its arguments
// believed. The command line is read of these processes only: that of one that hangs may hang.

import { readdir, readFile, readlink, stat } from "node:fs/promises";

export interface RootProcess {
  /** Path of the program. */
  program: string;
  /** Arguments after the program's own name. */
  args: readonly string[];
}

const MAX_PROCESSES = 8;

/** At most MAX_PROCESSES whose name, as in /proc/<pid>/comm, is `name`. */
export async function rootProcesses(name: string): Promise<RootProcess[]> {
  const ours = await readlink("/proc/self/ns/mnt").catch(() => undefined);
  const pids = (await readdir("/proc").catch(() => [])).filter((entry) => /^\d+$/.test(entry));
  const found: RootProcess[] = [];
  for (const pid of pids) {
    const comm = await readFile(`/proc/${pid}/comm`, "utf8").catch(() => "");
    if (comm.trim() !== name || found.length === MAX_PROCESSES) continue;
    const [program, namespace, owner] = await Promise.all([
      readlink(`/proc/${pid}/exe`).catch(() => undefined),
      readlink(`/proc/${pid}/ns/mnt`).catch(() => undefined),
      stat(`/proc/${pid}`).catch(() => undefined),
    ]);
    if (program === undefined || namespace === undefined || namespace !== ours || owner?.uid !== 0) continue;
    const line = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
    // An upgrade has replaced the file of the running program.
    found.push({ program: program.replace(/ \(deleted\)$/, ""), args: line.split("\0").slice(1) });
  }
  return found;
}

/** The value of the first of the flags that is given, as `--flag VALUE` or `--flag=VALUE`. */
export function flagOf(args: readonly string[], names: readonly string[]): string | undefined {
  for (const [index, arg] of args.entries()) {
    const [name = "", value] = arg.split(/=(.*)/s, 2);
    if (names.includes(name)) return value ?? args[index + 1];
  }
  return undefined;
}
