// A part that is made by the first caller that needs it.

/** Calls `make` once for all callers. A failure is not remembered: the next caller tries again. */
export function lazily<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make().catch((error: unknown) => {
      made = undefined;
      throw error;
    });
    return made;
  };
}
