// Tells this thread's owner of texts and messages so large that work on them holds the thread for long.
// Invariant: without a listener nothing here has an effect.

/** Bytes of an object of which even the simplest work takes tens of milliseconds without optimized code. @internal */
export const LARGE_WORK_BYTES = 128 * 1024;

let listener: (() => void) | undefined;

/** `onLarge` is called before each large text is read, until the returned function is called. One listener a thread. */
export function watchLargeWork(onLarge: () => void): () => void {
  listener = onLarge;
  return () => {
    if (listener === onLarge) listener = undefined;
  };
}

/** A text or message of so many bytes is about to be read. */
export function noteWork(bytes: number): void {
  if (bytes >= LARGE_WORK_BYTES) listener?.();
}
