// Finds a short list of events that still breaks the invariant: halves, quarters and so on are left out in turn
// (delta debugging, Zeller and Hildebrandt).

/**
 * `breaks` runs a list. Ends after so many runs, or at a moment of performance.now(), with the shortest list so far.
 */
export async function shrink(
  events: readonly number[],
  breaks: (events: readonly number[]) => Promise<boolean>,
  most: { runs: number; until?: number },
): Promise<number[]> {
  let left = [...events];
  let parts = 2;
  let runs = 0;
  const isOver = (): boolean => runs >= most.runs || performance.now() >= (most.until ?? Infinity);
  while (left.length > 1 && parts <= left.length && !isOver()) {
    const size = Math.ceil(left.length / parts);
    let found = false;
    for (let at = 0; at < left.length && !isOver(); at += size) {
      const without = [...left.slice(0, at), ...left.slice(at + size)];
      runs++;
      if (without.length === left.length || !(await breaks(without))) continue;
      left = without;
      parts = Math.max(2, parts - 1);
      found = true;
      break;
    }
    if (found) continue;
    if (size === 1) break;
    parts = Math.min(left.length, parts * 2);
  }
  return left;
}
