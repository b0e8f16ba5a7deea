// One reading for all who ask for the same thing at about the same time.
// Invariant: what a caller gets was read after it asked; a reading that is under way already is not for it.

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
