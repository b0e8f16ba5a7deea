// Values that are computed once for an object that never changes. Another version of it is another object, and what was
// computed for one goes with it.

/** `compute` runs once per object, and again only if it threw. */
export function oncePer<Key extends object, T>(compute: (key: Key) => T): (key: Key) => T {
  const known = new WeakMap<Key, { readonly value: T }>();
  return (key) => {
    const found = known.get(key);
    if (found !== undefined) return found.value;
    const value = compute(key);
    known.set(key, { value });
    return value;
  };
}
