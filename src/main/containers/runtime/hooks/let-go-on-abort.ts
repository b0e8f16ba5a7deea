// Calls that must not be cancelled while the runtime is just beginning with them. If the client disconnects while a
// command of ExecSync starts, containerd holds the container's shim for 30 s. The stop that made the caller disconnect
// then waits, too.

import type { Clock } from "../../../../shared/base/clock/clock.js";
import { abortReason } from "../../../../shared/base/errors/thrown.js";

/** By then a command has long started; cancelling ends it. */
const PATIENCE_MS = 10000;

/**
 * Settles as `call` does, or rejects with the signal's reason as soon as that aborts. The call then goes on by itself,
 * and is cancelled PATIENCE_MS later should it still be there.
 */
export function letGoOnAbort<T>(
  clock: Pick<Clock, "after">,
  signal: AbortSignal,
  call: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  const late = new AbortController();
  return new Promise((resolve, reject) => {
    const ended = call(late.signal);
    const onAbort = (): void => {
      reject(abortReason(signal));
      const timer = clock.after(PATIENCE_MS, () => late.abort(signal.reason)).unref();
      void ended.then(
        () => timer.cancel(),
        () => timer.cancel(),
      );
    };
    signal.addEventListener("abort", onAbort, { once: true });
    ended.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}
