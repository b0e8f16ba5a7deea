// Work on every pod of the node, one after the other. Invariant: an error of one pod reaches no other (docs/adr/0040).

/** Calls `work` for each item. An error is passed to `onError`, and the next item follows. */
export function forEachIsolated<T>(
  items: Iterable<T>,
  work: (item: T) => void,
  onError: (error: unknown, item: T) => void,
): void {
  for (const item of items) {
    try {
      work(item);
    } catch (error) {
      onError(error, item);
    }
  }
}
