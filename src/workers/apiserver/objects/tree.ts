// The shape of what a client sends, checked before anything recurses over it.

import { nearestSafe } from "../../../shared/kubernetes/api/wide-integers.js";
import { ApiError, badRequest } from "./errors.js";
import { setField, type Fields } from "./object.js";

/** Levels of maps and lists. The deepest field of a kind has a dozen; what recurses needs stack for each. */
export const MAX_DEPTH = 128;

/** Characters of all texts and names, and one for each value. By aliases of YAML they can be more than the body has. */
const MAX_CHARACTERS = 6 * 1024 * 1024;

/**
 * An integer beyond 2^53 is a bigint if it has 64 bits (json.ts); one that is written with an exponent becomes the
 * nearest number that JSON writes exactly. Changes the tree. @throws ApiError for one that is too deep
 */
export function boundedTree(root: unknown): unknown {
  if (isOther(root)) return nearest(root);
  const open: [holder: object, depth: number][] = isHolder(root) ? [[root, 1]] : [];
  let characters = 0;
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [holder, depth] = next;
    if (depth > MAX_DEPTH) throw badRequest(`the object has more than ${MAX_DEPTH} levels`);
    for (const name of Object.keys(holder)) {
      const value = (holder as Fields)[name];
      characters += 1 + name.length + (typeof value === "string" ? value.length : 0);
      if (characters > MAX_CHARACTERS) throw tooLarge();
      if (isOther(value)) setField(holder as Fields, name, nearest(value));
      else if (isHolder(value)) open.push([value, depth + 1]);
    }
  }
  return root;
}

/** A number that a tree must not have: beyond 64 bits, or wide and no bigint. */
function isOther(value: unknown): value is number | bigint {
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) || value !== BigInt.asIntN(64, value);
  return Number.isInteger(value) && !Number.isSafeInteger(value);
}

/** Beyond 64 bits it stays, so that the field's type refuses it. */
function nearest(value: number | bigint): number {
  if (typeof value === "bigint") return Number(value);
  return Math.abs(value) > 2 ** 63 ? value : nearestSafe(value);
}

function tooLarge(): ApiError {
  return new ApiError(413, "RequestEntityTooLarge", `Request entity too large: limit is ${MAX_CHARACTERS}`);
}

function isHolder(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
