// Equality of values that JSON has. Node's isDeepStrictEqual takes four times as long, and pods may have tens of
// thousands of ports and mounts.

/** Objects of Kubernetes nest less deep; a difference is repeated work, a full stack is an error. */
const MAX_DEPTH = 500;

/**
 * As isDeepStrictEqual for plain objects and arrays; false for values that nest deeper than {@link MAX_DEPTH} levels.
 */
export function sameJson(a: unknown, b: unknown, depth = 0): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null || depth > MAX_DEPTH) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
    for (let at = 0; at < a.length; at++) if (!sameJson(a[at], b[at], depth + 1)) return false;
    return true;
  }
  const [one, other] = [a as Record<string, unknown>, b as Record<string, unknown>];
  const keys = Object.keys(one);
  if (keys.length !== Object.keys(other).length) return false;
  for (const key of keys) if (!Object.hasOwn(other, key) || !sameJson(one[key], other[key], depth + 1)) return false;
  return true;
}
