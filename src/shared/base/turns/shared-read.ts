// One reading for all callers that request the same at about the same time.
// Invariant: a caller's result was read after its call; a pending reading is not shared with it.

/** @returns a function that reads; callers that come while a reading is under way share the next one. */
export function sharedRead<T>(read: () => Promise<T>): () => Promise<T> {
  let underWay: Promise<unknown> | undefined;
  let next: Promise<T> | undefined;
  const begin = (): Promise<T> => {
    const reading = read();
    const settled = reading.then(
      () => undefined,
      () => undefined,
    );
    underWay = settled;
    void settled.then(() => {
      if (underWay === settled) underWay = undefined;
    });
    return reading;
  };
  return () => {
    if (next !== undefined) return next;
    if (underWay === undefined) return begin();
    next = underWay.then(() => {
      next = undefined;
      return begin();
    });
    return next;
  };
}
