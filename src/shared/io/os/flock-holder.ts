// Finds the holder of a lock for the log line of the waiting process. /proc/locks names it by device and inode.

import { readFile } from "fs/promises";

// "3: FLOCK  ADVISORY  WRITE 2131 fe:01:786437 0 EOF"; a "->" after the number marks one who waits.
const LINE = /^\d+: FLOCK +ADVISORY +\w+ +(\d+) +[0-9a-f]+:[0-9a-f]+:(\d+) /;

/**
 * The process that holds the flock of an inode. undefined when there is none or it runs in another pid namespace.
 * The device is not compared: file systems of layers (overlay, btrfs) report another one to stat(2).
 * @internal
 */
export function flockHolder(locks: string, inode: bigint | number): number | undefined {
  for (const line of locks.split("\n")) {
    const match = LINE.exec(line);
    if (match?.[2] === String(inode) && match[1] !== "0") return Number(match[1]);
  }
  return undefined;
}

/** "process 2131 (kubelet)", or "another process" if the kernel does not report it. */
export async function describeFlockHolder(inode: bigint | number): Promise<string> {
  try {
    const pid = flockHolder(await readFile("/proc/locks", "utf8"), inode);
    if (pid === undefined) return "another process";
    const name = (await readFile(`/proc/${pid}/comm`, "utf8")).trim();
    return `process ${pid} (${name})`;
  } catch {
    // It ended while we looked, or /proc hides it: the name is a courtesy.
    return "another process";
  }
}
