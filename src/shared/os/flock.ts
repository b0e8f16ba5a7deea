// flock(2), exclusive. Waiting repeats a try that does not block. A blocking flock would hold one of the four threads of libuv's pool and
// could not be cancelled. The kernel sends no event for an unlock. A try is one system call of a microsecond.
import { readFile } from "node:fs/promises";
import type { Clock } from "../clock/clock.js";
import { isOsCallError } from "./errors.js";
import { libc } from "./libc.js";

const LOCK_EX = 2;
const LOCK_NB = 4;

/** Longest time after a release until the next process in line has the lock, ms. */
const FLOCK_RETRY_MS = 100;

/**
 * Whether the lock is ours now. It belongs to the open file and ends with its last descriptor, so with the process too.
 * @param about For the error: "lock file /run/kubelet.lock".
 */
export function tryFlock(fd: number, about: string): boolean {
  try {
    libc("flock", about, fd, LOCK_EX | LOCK_NB);
    return true;
  } catch (error) {
    // An interrupted try proves nothing: the next one will.
    if (isOsCallError(error, "EAGAIN") || isOsCallError(error, "EINTR")) return false;
    throw error;
  }
}

/** Resolves once this process holds the lock; rejects with the signal's reason if it aborts first. */
export async function waitForFlock(
  fd: number,
  about: string,
  options: { clock: Pick<Clock, "sleep">; signal: AbortSignal },
): Promise<void> {
  for (;;) {
    options.signal.throwIfAborted();
    if (tryFlock(fd, about)) return;
    await options.clock.sleep(FLOCK_RETRY_MS, options.signal);
  }
}

// Finds the holder of a lock for the log line of the waiting process. /proc/locks names it by device and inode.

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
