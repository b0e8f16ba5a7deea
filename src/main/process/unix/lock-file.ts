// One kubelet per lock file: flock(2) on --lock-file, held until the process exits. A second kubelet waits without a
// limit. With --exit-on-lock-contention the holder exits as soon as another process opens or deletes the file.
// Invariant: the locked file is the file at the path, and its descriptor stays open while the lock is held.

import { constants, open, type FileHandle } from "node:fs/promises";
import { systemClock, type Clock } from "../../../shared/base/clock/clock.js";
import { OperatorError } from "../../../shared/base/errors/operator-error.js";
import { messageOf } from "../../../shared/base/errors/thrown.js";
import { describeFlockHolder } from "../../../shared/io/os/flock-holder.js";
import { tryFlock, waitForFlock } from "../../../shared/io/os/flock.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import { type ContentionWatch, watchContention, isAt } from "./lock-contention.js";

export interface LockFileOptions {
  /** --lock-file; "" is none. Made when missing, mode 0600; its directory must exist. */
  path: string;
  /** --exit-on-lock-contention */
  exitOnContention: boolean;
  log: Pick<Logger, "info" | "warn">;
  /** Ends the wait. */
  signal: AbortSignal;
  clock?: Clock;
}

export interface HeldLock {
  /**
   * Resolves with a description of what another process did to the file. Stays pending without exitOnContention; never
   * rejects.
   */
  readonly contended: Promise<string>;
  /** Gives the lock up and ends the watch. The file stays. Idempotent. */
  release(): Promise<void>;
}

const NO_LOCK: HeldLock = { contended: new Promise(() => undefined), release: () => Promise.resolve() };

/**
 * Resolves with the lock. Without a path there is nothing to hold.
 * @throws OperatorError: no path but exitOnContention, or the file cannot be opened, locked or watched; the signal's
 * reason when it aborts.
 */
export async function acquireLockFile(options: LockFileOptions): Promise<HeldLock> {
  const { path, exitOnContention, log } = options;
  if (path === "") {
    if (!exitOnContention) return NO_LOCK;
    throw new OperatorError("--exit-on-lock-contention needs a lock file: give --lock-file too, or leave both out");
  }
  for (;;) {
    const file = await openLockFile(path);
    let watch: ContentionWatch | undefined;
    try {
      await lock(file, options);
      if (exitOnContention) watch = watchContention(path, file);
      if (await isAt(path, file)) {
        log.info({ path }, `holding lock file ${path}`);
        return heldLock(file, watch);
      }
      log.info({ path }, "the lock file was replaced during the wait for it; trying the new one");
    } catch (error) {
      watch?.[Symbol.dispose]();
      await file.close();
      throw options.signal.aborted ? error : lockFileError(path, "lock", error);
    }
    watch?.[Symbol.dispose]();
    await file.close();
  }
}

function heldLock(file: FileHandle, watch: ContentionWatch | undefined): HeldLock {
  let released: Promise<void> | undefined;
  return {
    contended: watch?.contended ?? NO_LOCK.contended,
    release: () => {
      watch?.[Symbol.dispose]();
      // The last descriptor of the open file takes the lock with it.
      return (released ??= file.close());
    },
  };
}

async function openLockFile(path: string): Promise<FileHandle> {
  try {
    return await open(path, constants.O_RDWR | constants.O_CREAT, 0o600);
  } catch (error) {
    throw lockFileError(path, "open", error);
  }
}

async function lock(file: FileHandle, options: LockFileOptions): Promise<void> {
  const { path, log, signal, clock = systemClock } = options;
  const about = `lock file ${path}`;
  signal.throwIfAborted();
  if (tryFlock(file.fd, about)) return;
  const holder = await describeFlockHolder((await file.stat()).ino);
  log.info({ path, holder }, `waiting for lock file ${path}, which ${holder} holds`);
  await waitForFlock(file.fd, about, { clock, signal });
}

function lockFileError(path: string, doing: string, cause: unknown): OperatorError {
  const reason = messageOf(cause);
  return new OperatorError(
    `cannot ${doing} lock file ${path}: ${reason}; --lock-file must name a file in an existing directory that the kubelet may write`,
    { cause },
  );
}
