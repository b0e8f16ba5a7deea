// YAML read as Kubernetes reads it, with a limit on nesting that a hostile text cannot get around.
//
// Kubernetes' YAML is YAML 1.1 as its Go library resolves it. yes/no/on/off/y/n are booleans, 0644 is octal, "<<" merges keys; base-60
// numbers and dates stay text. So this is the 1.1 schema without its time types, plus 0o644. Only the first document of a text counts, as
// upstream has it.
import { Composer, LineCounter, Parser, type CST, type Document, type ScalarTag, type Tags } from "yaml";

/** Far above the depth of a Pod or a configuration; walkers and the YAML composer recurse. */
export const DEPTH_LIMIT = 200;

/**
 * Nested beyond the limit. Checked before the recursive composer runs: near the end of its stack V8 ends the process.
 */
export class TooDeepError extends Error {
  override readonly name = "TooDeepError";

  constructor() {
    super(`nested more than ${DEPTH_LIMIT} levels deep`);
  }
}

export function isTooDeepError(error: unknown): error is TooDeepError {
  return error instanceof TooDeepError;
}

export interface KubernetesYaml {
  doc: Document.Parsed;
  lines: LineCounter;
  /** A document after the first. */
  second: Document.Parsed | undefined;
}

const octal: ScalarTag = {
  tag: "tag:yaml.org,2002:int",
  identify: () => false,
  default: true,
  format: "OCT12",
  test: /^[-+]?0o[0-7]+$/,
  resolve: (text) => {
    const digits = Number.parseInt(text.replace(/^[-+]?0o/, ""), 8);
    return text.startsWith("-") ? -digits : digits;
  },
};
const TIME_TAGS = [
  "tag:yaml.org,2002:timestamp",
  "tag:yaml.org,2002:omap",
  "tag:yaml.org,2002:pairs",
  "tag:yaml.org,2002:set",
];

function kubernetesTags(tags: Tags): Tags {
  const kept = tags.filter((tag) => {
    if (typeof tag === "string") return true;
    const base60 = "format" in tag && tag.format === "TIME";
    return !base60 && !TIME_TAGS.includes(tag.tag);
  });
  return [octal, ...kept];
}

/**
 * parseDocument of the yaml package, with a check of the depth between its parser and its composer. `uniqueKeys` false
 * leaves equal keys to the caller (the package compares each with each). Throws TooDeepError; other errors are in the
 * document's errors.
 */
export function readKubernetesYaml(text: string, uniqueKeys = true): KubernetesYaml {
  const lines = new LineCounter();
  const [doc, second] = firstDocuments(text, lines, 2, uniqueKeys);
  if (doc === undefined) throw new Error("the YAML composer gave no document");
  return { doc, lines, second };
}

/** All documents of a text, at most `limit`, with positions in the whole text. Throws as readKubernetesYaml does. */
export function readKubernetesYamls(text: string, limit: number): { docs: Document.Parsed[]; lines: LineCounter } {
  const lines = new LineCounter();
  return { docs: firstDocuments(text, lines, limit, true), lines };
}

function firstDocuments(text: string, lines: LineCounter, limit: number, uniqueKeys: boolean): Document.Parsed[] {
  const composer = new Composer({
    version: "1.1",
    schema: "yaml-1.1",
    customTags: kubernetesTags,
    prettyErrors: false,
    logLevel: "error",
    uniqueKeys,
  });
  const docs: Document.Parsed[] = [];
  const tokens = shallow(new Parser(lines.addNewLine).parse(text));
  for (const next of composer.compose(tokens, true, text.length)) {
    docs.push(next);
    if (docs.length >= limit) break;
  }
  return docs;
}

function* shallow(tokens: Iterable<CST.Token>): Generator<CST.Token> {
  for (const token of tokens) {
    if (isDeepToken(token)) throw new TooDeepError();
    yield token;
  }
}

/** Depth by an explicit stack. A mapping's value nests one level, and so does a collection in a collection. */
function isDeepToken(root: CST.Token): boolean {
  const stack: [CST.Token, number][] = [[root, 0]];
  for (let top = stack.pop(); top !== undefined; top = stack.pop()) {
    const [token, depth] = top;
    if (depth > DEPTH_LIMIT) return true;
    if (token.type === "document" && token.value !== undefined) stack.push([token.value, depth]);
    if (!("items" in token)) continue;
    for (const { key, value } of token.items) {
      if (key !== undefined && key !== null) stack.push([key, depth + 1]);
      if (value !== undefined) stack.push([value, depth + 1]);
    }
  }
  return false;
}
