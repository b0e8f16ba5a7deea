// Replaces the program of this process: the pid stays, so systemd sees no restart. All threads end without notice: the
// caller has stopped them and flushed its logs. Memory, timers and handlers of this process are lost; niceness, limits,
// oom_score_adj and ignored signals stay.

import { readdirSync } from "node:fs";
import { isOsCallError } from "./errors.js";
import { libc } from "./libc.js";

const F_SETFD = 2;
const FD_CLOEXEC = 1;
const STANDARD = [0, 1, 2];

export interface Program {
  /** Absolute path. */
  file: string;
  /** With the name of the program first. */
  argv: readonly string[];
  env: Readonly<Record<string, string | undefined>>;
}

/**
 * The program inherits standard input, output and error, and no other descriptor. Returns only by throwing: OsCallError
 * when the kernel refuses (ENOENT, EACCES, E2BIG, …); the process then continues.
 */
export function replaceProcess(program: Program): never {
  const about = `${program.file} in place of process ${process.pid}`;
  // The last thing this process does, so synchronous.
  const others = readdirSync("/proc/self/fd")
    .map(Number)
    .filter((fd) => !STANDARD.includes(fd));
  // Node opens files close-on-exec; descriptors inherited from systemd or a shell are not.
  for (const fd of others) setDescriptorFlags(fd, FD_CLOEXEC);
  // Node sets the flag on the standard three at its start. child_process clears it for children; nothing clears it for
  // execve.
  for (const fd of STANDARD) setDescriptorFlags(fd, 0);
  const env = Object.entries(program.env).flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${value}`]));
  libc("execve", about, program.file, [...program.argv, null], [...env, null]);
  throw new Error(`execve(2) of ${about} returned without an error: this cannot be`);
}

function setDescriptorFlags(fd: number, flags: number): void {
  try {
    libc("fcntl", `descriptor ${fd}`, fd, F_SETFD, flags);
  } catch (error) {
    // Closed meanwhile (the listing's own descriptor is), or a standard one that was never open.
    if (!isOsCallError(error, "EBADF")) throw error;
  }
}
