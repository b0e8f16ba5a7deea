// Asynchronous work on many items, a few at once.

import { invariant } from "../errors/invariant.js";

/**
 * The results in the order of the items, with at most `limit` calls of `work` under way. Rejects with the first
 * failure; no further call begins after it.
 */
export async function mapAtMost<T, R>(limit: number, items: Iterable<T>, work: (item: T) => Promise<R>): Promise<R[]> {
  invariant(limit >= 1, "at least one call may be under way");
  const results: R[] = [];
  // A copy: the work may change the collection.
  const waiting = [...items].entries();
  let failed = false;
  const lane = async (): Promise<void> => {
    for (const [at, item] of waiting) {
      if (failed) return;
      try {
        results[at] = await work(item);
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: limit }, lane));
  return results;
}

/** As mapAtMost, with the outcome of each call: a failure ends no other. Never rejects. */
export function settleAtMost<T, R>(
  limit: number,
  items: Iterable<T>,
  work: (item: T) => Promise<R>,
): Promise<PromiseSettledResult<R>[]> {
  return mapAtMost(limit, items, async (item) => (await Promise.allSettled([work(item)]))[0]);
}
