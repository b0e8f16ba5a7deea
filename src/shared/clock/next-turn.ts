// A breath between two pieces of one long job: what else the event loop has waiting runs first.

/** Runs `fn` in the next turn of the event loop, after pending I/O. Returns its cancellation. */
export function nextTurn(fn: () => void): () => void {
  const handle = setImmediate(fn);
  return () => clearImmediate(handle);
}
