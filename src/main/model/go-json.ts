// JSON as Go's encoder writes it. The container hash and some annotations are compared byte for byte with those of
// another kubelet. So the three characters and two separators that Go escapes for HTML must be escaped here, too.

import { replaceEach } from "../../shared/base/text/linear.js";

const ESCAPES = ["<", ">", "&", "\u2028", "\u2029"].map(
  (character) => [character, `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`] as const,
);

/** Compact JSON of `value` with <, >, &, U+2028 and U+2029 as \uXXXX. Key order is the object's own. */
export function goJson(value: unknown): string {
  return replaceEach(JSON.stringify(value), ESCAPES);
}
