// JSON as Go's encoder writes it. The container hash and some annotations are compared byte for byte with those of
// another kubelet. So the three characters and two separators that Go escapes for HTML must be escaped here, too.

import { replaceAscii } from "../../shared/base/text/linear.js";

const ASCII_ESCAPES = Array.from({ length: 128 }, (_, code) =>
  "<>&".includes(String.fromCharCode(code)) ? Buffer.from(`\\u00${code.toString(16)}`) : undefined,
);

/** Compact JSON of `value` with <, >, &, U+2028 and U+2029 as \uXXXX. Key order is the object's own. */
export function goJson(value: unknown): string {
  const json = JSON.stringify(value);
  const escaped = /[<>&]/.test(json) ? replaceAscii(json, ASCII_ESCAPES) : json;
  return escaped.replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
}
