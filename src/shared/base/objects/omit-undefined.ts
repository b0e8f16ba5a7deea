/** The members of `T`; the optional ones may be undefined. */
export type Undefinable<T> = { [K in keyof T]: object extends Pick<T, K> ? T[K] | undefined : T[K] };

/**
 * Returns `members` without those that are undefined. For objects that other programs read or that are compared:
 * Kubernetes' objects, messages between threads, records on disk. Other types have `T | undefined`.
 */
export function omitUndefined<T extends object>(members: Undefinable<NoInfer<T>>): T {
  const kept: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(members)) if (value !== undefined) kept[name] = value;
  return kept as T;
}
