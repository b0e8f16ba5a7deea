// Awaits a promise that has no cancellation, until a signal aborts.
// Invariant: the listener is removed when the wait ends, and a promise that rejects later is not an unhandled
// rejection.

import { abortReason } from "../errors/thrown.js";

/** The promise's outcome; rejects with the signal's reason if the signal aborts first. The promise itself continues. */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) {
    promise.catch(() => undefined);
    return Promise.reject(abortReason(signal));
  }
  return new Promise<T>((resolve, reject) => {
    const onAbort = (): void => reject(abortReason(signal));
    signal.addEventListener("abort", onAbort, { once: true });
    promise
      .finally(() => {
        signal.removeEventListener("abort", onAbort);
      })
      .then(resolve, reject);
  });
}
