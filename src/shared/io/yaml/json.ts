// JSON with integers as they are written: beyond 2^53 they become bigints.

import {
  addItem,
  addMember,
  emptyList,
  emptyMap,
  type ScalarValue,
  type YamlList,
  type YamlMap,
  type YamlValue,
} from "./tree.js";

/** A text that upstream reads as JSON. */
export function looksLikeJson(text: string): boolean {
  return /^\s*\{/.test(text);
}

/** undefined if it is no JSON. Throws RangeError for one that is too deep for the program's stack. */
export function parseExactJson(text: string): { value: unknown } | undefined {
  try {
    return { value: /[0-9]{16}/.test(text) ? JSON.parse(text, exact) : JSON.parse(text) };
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function exact(this: unknown, _key: string, value: unknown, context?: { source?: string }): unknown {
  const source = context?.source;
  if (typeof value !== "number" || Number.isSafeInteger(value) || source === undefined) return value;
  return /^-?[0-9]{16,20}$/.test(source) ? BigInt(source) : value;
}

/** A tree without places, for JSON that is no YAML. */
export function treeOfJson(json: unknown): YamlValue {
  const open: [source: object, target: YamlList | YamlMap][] = [];
  const treeOf = (value: unknown): YamlValue => {
    if (typeof value !== "object" || value === null) {
      return { kind: "scalar", offset: 0, value: value as ScalarValue, text: String(value) };
    }
    const target = Array.isArray(value) ? emptyList(0) : emptyMap(0);
    open.push([value, target]);
    return target;
  };
  const root = treeOf(json);
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [source, target] = next;
    for (const [name, child] of Object.entries(source)) {
      const value = treeOf(child);
      if (target.kind === "map") addMember(target, name, { value, offset: 0 });
      else addItem(target, value);
    }
  }
  return root;
}
