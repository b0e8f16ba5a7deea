// Size of an object: the entries of all maps, sets and arrays that can be reached from it. For tests which check that
// an object does not grow.

/** `without`: names of properties that are not followed, because they lead to other objects or to the test. */
export function entriesIn(root: object, without: readonly string[] = []): number {
  const seen = new Set<object>();
  const open: object[] = [root];
  let entries = 0;
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (seen.has(next)) continue;
    seen.add(next);
    const parts: unknown[] = [];
    if (next instanceof Map) parts.push(...next.keys(), ...next.values());
    else if (next instanceof Set) parts.push(...next);
    if (next instanceof Map || next instanceof Set) entries += next.size;
    if (Array.isArray(next)) entries += next.length;
    for (const [name, value] of Object.entries(next)) if (!without.includes(name)) parts.push(value);
    for (const part of parts) if (typeof part === "object" && part !== null) open.push(part);
  }
  return entries;
}
