// What an error knows beside its message, for `nodelet why`: the keys of an object, a claim. It travels with the error
// through all that wrap it.

import type { ErrorFacts, MissingKeyFacts } from "../../shared/contracts/nodelet.js";

/** Names of keys that a fact lists. */
const MAX_KEYS = 20;
/** Causes may form a circle. */
const MAX_CAUSES = 5;

const known = new WeakMap<Error, ErrorFacts>();

/** Returns the error. */
export function withFacts<T extends Error>(error: T, facts: ErrorFacts): T {
  known.set(error, facts);
  return error;
}

/** Those of the error, or of the nearest cause that has some. */
export function factsOf(thrown: unknown): ErrorFacts | undefined {
  let error = thrown;
  for (let depth = 0; error instanceof Error && depth < MAX_CAUSES; depth++, error = error.cause) {
    const facts = known.get(error);
    if (facts !== undefined) return facts;
  }
  return undefined;
}

export function missingKey(key: string, object: string, existing: Iterable<string>): { missingKey: MissingKeyFacts } {
  const all = [...existing].sort();
  return { missingKey: { key, object, keys: all.slice(0, MAX_KEYS), more: Math.max(all.length - MAX_KEYS, 0) } };
}
