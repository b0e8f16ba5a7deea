// flock(2), exclusive. Waiting repeats a try that does not block. A blocking flock would hold one of the four threads
// of libuv's pool and could not be cancelled. The kernel sends no event for an unlock. A try is one system call of a
// microsecond.

import type { Clock } from "../../base/clock/clock.js";
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
