// YAML as Kubernetes reads it: YAML 1.1 by the rules of go-yaml, converted to what JSON can hold (ADR 0093). Only the
// first document of a text counts, as upstream has it.
//
// Nesting, aliases and merge keys are bounded as upstream bounds them; time and memory grow with the length of the
// text.

import { Cursor } from "./cursor.js";
import { sourceText } from "./encoding.js";
import { looksLikeJson, parseExactJson, treeOfJson } from "./json.js";
import { LinePositions } from "./line-positions.js";
import { Parser } from "./parser.js";
import { resolveTree, type ResolvedTree } from "./resolve-tree.js";
import { Scanner } from "./scanner.js";
import { YamlError } from "./yaml-error.js";

export interface KubernetesYaml extends ResolvedTree {
  lines: LinePositions;
}
export interface FirstDocument extends KubernetesYaml {
  /** Where text follows that is not read: a second document, as a rule. */
  rest: number | undefined;
}

/** The first document; of an empty text, null. A text that is JSON is read as JSON. Throws YamlError. */
export function readKubernetesYaml(input: string | Uint8Array): FirstDocument {
  try {
    const read = withParser(input, firstDocument);
    return hasOtherBreaks(input) ? (jsonDocument(input) ?? read) : read;
  } catch (error) {
    const json = error instanceof YamlError ? jsonDocument(input) : undefined;
    if (json !== undefined) return json;
    throw error;
  }
}

/**
 * The documents of a text one by one, with places in the whole text. Throws YamlError at the first one that is no YAML.
 */
export function* readKubernetesYamls(input: string | Uint8Array): Generator<KubernetesYaml> {
  const { parser, lines } = parserOf(input);
  for (;;) {
    const next = placed(lines, () => parser.next());
    if (next === undefined) return;
    yield placed(lines, () => ({ ...resolveTree(next), lines }));
  }
}

function firstDocument(parser: Parser, lines: LinePositions): FirstDocument {
  const first = parser.next();
  if (first === undefined) return { root: treeOfJson(null), repeated: [], lines, rest: undefined };
  return { ...resolveTree(first), lines, rest: parser.restStart() };
}

/** JSON that YAML reads otherwise, or not at all. Its places are not known. */
function jsonDocument(input: string | Uint8Array): FirstDocument | undefined {
  const text = typeof input === "string" ? input : Buffer.from(input).toString();
  const json = looksLikeJson(text) ? parseExactJson(text) : undefined;
  if (json === undefined) return undefined;
  return { root: treeOfJson(json.value), repeated: [], lines: new LinePositions(text), rest: undefined };
}

/** Within JSON's strings these are no line breaks. */
function hasOtherBreaks(input: string | Uint8Array): boolean {
  return typeof input === "string" ? /[\x85\u2028\u2029]/.test(input) : input.includes(0xc2) || input.includes(0xe2);
}

function withParser<Result>(
  input: string | Uint8Array,
  read: (parser: Parser, lines: LinePositions) => Result,
): Result {
  const { parser, lines } = parserOf(input);
  return placed(lines, () => read(parser, lines));
}

function parserOf(input: string | Uint8Array): { parser: Parser; lines: LinePositions } {
  const source = sourceText(input);
  const lines = new LinePositions(source.text);
  return { parser: placed(lines, () => new Parser(new Scanner(new Cursor(source)))), lines };
}

/** Gives an error its line and column. */
function placed<Result>(lines: LinePositions, read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    if (error instanceof YamlError) Object.assign(error, lines.at(error.offset));
    throw error;
  }
}
