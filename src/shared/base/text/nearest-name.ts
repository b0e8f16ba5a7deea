// "Did you mean": the known name closest to a misspelt one.

/**
 * Shortest name that is compared, in characters. Every short name is near a shorter one; a longer one is no
 * misspelling.
 */
const SHORTEST = 3;
const LONGEST = 64;

/** Restricted edit distance (insert, delete, replace, swap of neighbours); gives up above `limit`. */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) > limit) return limit + 1;
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    let best = i;
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let cost = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        cost = Math.min(cost, (beforeLast[j - 2] ?? 0) + 1);
      row.push(cost);
      if (cost < best) best = cost;
    }
    if (best > limit) return limit + 1;
    beforeLast = last;
    last = row;
  }
  return last[b.length] ?? limit + 1;
}

/** The nearest of `known` within a third of the name's length, else undefined. Case does not count. */
export function nearestName(name: string, known: Iterable<string>): string | undefined {
  if (name.length < SHORTEST || name.length > LONGEST) return undefined;
  const limit = Math.max(1, Math.floor(name.length / 3));
  const wanted = name.toLowerCase();
  let best: string | undefined;
  let bestDistance = limit + 1;
  for (const candidate of known) {
    const distance = editDistance(wanted, candidate.toLowerCase(), limit);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** `did you mean "Always"?`, or undefined. */
export function didYouMean(name: string, known: Iterable<string>): string | undefined {
  const nearest = nearestName(name, known);
  return nearest === undefined ? undefined : `did you mean "${nearest}"?`;
}
