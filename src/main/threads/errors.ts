// Errors that end the supervision of a thread. Both reject start() if the thread never ran.

import type { ThreadExit } from "../../shared/contracts/thread.js";

/** The supervisor will not start the thread again. */
export class ThreadGaveUpError extends Error {
  override readonly name = "ThreadGaveUpError";
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
  constructor(thread: string) {
    super(`thread ${thread} was stopped before it was running`);
  }
}
