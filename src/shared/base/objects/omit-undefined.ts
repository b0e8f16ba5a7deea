/** The members of `T`; those that are optional may be undefined. */
type Undefinable<T> = {
  [K in keyof T]: string extends K ? T[K] | undefined : object extends Pick<T, K> ? T[K] | undefined : T[K];
};

/**
 * Returns `members` without those that are undefined. For objects that other programs read or that are compared:
 * Kubernetes' objects, messages between threads, records on disk. Other types have `T | undefined`.
 */
export function omitUndefined<T extends object>(members: Undefinable<NoInfer<T>>): T {
  const from = members as Record<string, unknown>;
  const kept: Record<string, unknown> = {};
  // forEach of the names allocates nothing per member, an iterator of entries three objects; statuses call this often.
  Object.keys(from).forEach((name) => {
    if (from[name] !== undefined) kept[name] = from[name];
  });
  return kept as T;
}
