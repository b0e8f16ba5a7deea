// flock(2), exclusive. Waiting is a try that does not block, repeated: a blocking flock would hold a thread of libuv's
// pool (one of four) for as long as another kubelet lives and could not be cancelled; the kernel sends no event for an
// unlock; and a try is one system call of a microsecond.
import type { Clock } from "../clock/clock.js";
import { isOsCallError } from "./errors.js";
import { libc } from "./libc.js";

const LOCK_EX = 2;
const LOCK_NB = 4;

/** How long after a release the next in line has the lock at the latest, ms. */
export const FLOCK_RETRY_MS = 100;

/**
 * Whether the lock is ours now. It belongs to the open file and ends with its last descriptor, so with the process too.
 * @param about For the error: "lock file /run/kubelet.lock".
 */
export function tryFlock(fd: number, about: string): boolean {
  try {
    libc("flock", about, fd, LOCK_EX | LOCK_NB);
    return true;
  } catch (error) {
    // An interrupted try says nothing: the next one will.
    if (isOsCallError(error, "EAGAIN") || isOsCallError(error, "EINTR")) return false;
    throw error;
  }
}

/** Resolves once the lock is ours; rejects with the signal's reason when it aborts first. */
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
