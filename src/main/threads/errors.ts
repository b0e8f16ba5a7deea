// Errors that end the supervision of a thread. Both reject start() if the thread never ran.

import type { ThreadExit } from "../../shared/contracts/thread.js";

/** The supervisor will not start the thread again. */
export class ThreadGaveUpError extends Error {
  override readonly name = "ThreadGaveUpError";
  readonly code = "THREAD_GAVE_UP";
  constructor(
    readonly exit: ThreadExit,
    readonly attempts: number,
  ) {
    super(
      `thread ${exit.thread} failed ${attempts} times without a healthy run; no further restart. Last: ${exit.reason} ` +
        `(${exit.cause}); restart the kubelet after fixing the cause`,
    );
  }
}

/** stop() came before the thread ran. */
export class ThreadStoppedError extends Error {
  override readonly name = "ThreadStoppedError";
  readonly code = "THREAD_STOPPED";
  constructor(thread: string) {
    super(`thread ${thread} was stopped before it was running`);
  }
}

export const isThreadStopped = (error: unknown): error is ThreadStoppedError =>
  error instanceof Error && error.name === "ThreadStoppedError";
