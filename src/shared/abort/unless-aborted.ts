// Waiting for something that nobody cancels, with a way out.

/** The promise goes on by itself when the signal ends the wait for it. Rejects with the signal's reason. */
export async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  let onAbort = (): void => undefined;
  try {
    return await new Promise<T>((resolve, reject) => {
      onAbort = () => reject(signal.reason instanceof Error ? signal.reason : new Error(String(signal.reason)));
      signal.addEventListener("abort", onAbort, { once: true });
      promise.then(resolve, reject);
    });
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
