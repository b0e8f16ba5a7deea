// JSON as Go's encoder writes it. The container hash and some annotations are compared byte for byte with what another
// kubelet wrote, so the three characters and two separators that Go escapes for HTML must be escaped here too.

/** Compact JSON of `value` with <, >, &, U+2028 and U+2029 as \uXXXX. Key order is the object's own. */
export function goJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
