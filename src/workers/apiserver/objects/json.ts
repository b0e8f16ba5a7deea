// JSON of this server's objects. An integer that JavaScript's numbers cannot hold is a bigint in a tree, from the body
// of a request to the file, and has its digits in every text.

import { parseExactJson } from "../../../shared/io/yaml/json.js";
import { exactInteger, replaceAt } from "../../../shared/kubernetes/api/wide-integers.js";

/** Nearly no value has a bigint: JSON.stringify throws TypeError for one that has. */
export function jsonText(value: unknown, indent?: number): string {
  try {
    return JSON.stringify(value, undefined, indent);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return JSON.stringify(
      value,
      (_, inner: unknown) => (typeof inner === "bigint" ? exactInteger(inner) : inner),
      indent,
    );
  }
}

/** @throws SyntaxError */
export function parsedJson(text: string): unknown {
  const parsed = parseExactJson(text);
  // Once more for its message.
  return parsed === undefined ? JSON.parse(text) : parsed.value;
}

/** Puts the digits into a tree that has the nearest numbers. */
export function setDigits(
  root: unknown,
  wide: readonly { path: readonly (string | number)[]; digits: string }[],
): void {
  for (const { path, digits } of wide) replaceAt(root, path, (value) => value !== undefined, BigInt(digits));
}
