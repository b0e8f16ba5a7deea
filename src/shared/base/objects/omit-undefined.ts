/** The members of `T`; those that are optional may be undefined. */
type Undefinable<T> = {
  [K in keyof T]: string extends K ? T[K] | undefined : object extends Pick<T, K> ? T[K] | undefined : T[K];
};

/**
 * Returns `members` without those that are undefined. For objects that other programs read or that are compared:
 * Kubernetes' objects, messages between threads, records on disk. Other types have `T | undefined`.
 */
export function omitUndefined<T extends object>(members: Undefinable<NoInfer<T>>): T {
  const kept: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(members)) if (value !== undefined) kept[name] = value;
  return kept as T;
}
