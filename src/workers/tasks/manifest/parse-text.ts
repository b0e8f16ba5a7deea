// Text of a manifest → plain values, read as Kubernetes reads YAML, with hard limits on what a hostile file can cost.
//
// Kubernetes' YAML is YAML 1.1 as its Go library resolves it: yes/no/on/off/y/n are booleans, 0644 is octal, "<<" merges
// keys, base-60 numbers and dates stay text, the last of two equal keys wins. So this is the 1.1 schema without its time
// types, plus 0o644. Only the first document of a file counts, as upstream has it.
import {
  Composer,
  LineCounter,
  Parser,
  YAMLParseError,
  type CST,
  type Document,
  type ScalarTag,
  type Tags,
} from "yaml";

export const SIZE_LIMIT = 10 * 1024 * 1024;
/** More than enough for hand-made anchors, too few for a bomb. */
const MAX_ALIASES = 100;
/** Far above what a Pod needs; the walkers and the YAML composer recurse. */
export const DEPTH_LIMIT = 200;

/** A text that is broken once is often broken all the way down. */
const MAX_FAULTS = 5;

export interface ParsedText {
  value: unknown;
  /** Positions of problems that do not refuse the manifest. */
  warnings: { message: string; line: number; column: number }[];
  /** The document with positions; parsed on demand, as JSON needs it for messages only. */
  document(): { doc: Document; lines: LineCounter };
}

export interface TextFault {
  reason: "syntax" | "limit";
  allowed: string;
  line: number;
  column: number;
}
export type ParseOutcome = { ok: true; parsed: ParsedText } | { ok: false; faults: TextFault[] };

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

export function parseText(input: string | Uint8Array): ParseOutcome {
  if (input.length > SIZE_LIMIT) return refuse("limit", `at most ${SIZE_LIMIT / 1024 / 1024} MiB`);
  const text = decodeUtf8(input);
  if (text === undefined) return refuse("syntax", "the text must be UTF-8");
  if (text.trim() === "") return refuse("syntax", "the file is empty; expected one v1 Pod");
  try {
    return parseJson(text) ?? parseYaml(text);
  } catch (error) {
    if (error instanceof TooDeepError || error instanceof RangeError) return tooDeep();
    throw error;
  }
}

function refuse(reason: TextFault["reason"], allowed: string, line = 0, column = 0): ParseOutcome {
  return { ok: false, faults: [{ reason, allowed, line, column }] };
}

function tooDeep(): ParseOutcome {
  return refuse("limit", `at most ${DEPTH_LIMIT} levels of nesting`);
}

function decodeUtf8(input: string | Uint8Array): string | undefined {
  if (typeof input === "string") return input.replace(/^\uFEFF/, "");
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(input);
  } catch {
    return undefined;
  }
}

/** JSON is far faster read as JSON; undefined when it is none (YAML may still make sense of it). */
function parseJson(text: string): ParseOutcome | undefined {
  if (!/^\s*[{[]/.test(text)) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (isTooDeep(value)) return tooDeep();
  return { ok: true, parsed: { value, warnings: [], document: () => readDocument(text) } };
}

/** Nested beyond the limit. Told before the composer, which recurses: near the end of its stack V8 ends the process. */
class TooDeepError extends Error {}

/** parseDocument of the yaml package, with a look at the depth between its parser and its composer. */
function readDocument(text: string): { doc: Document; lines: LineCounter } {
  const lines = new LineCounter();
  const composer = new Composer({
    version: "1.1",
    schema: "yaml-1.1",
    customTags: kubernetesTags,
    prettyErrors: false,
    logLevel: "error",
  });
  let doc: Document.Parsed | undefined;
  const tokens = shallow(new Parser(lines.addNewLine).parse(text));
  for (const next of composer.compose(tokens, true, text.length)) {
    if (doc !== undefined) {
      const [from, to] = next.range;
      doc.errors.push(new YAMLParseError([from, to], "MULTIPLE_DOCS", "more than one document"));
      break;
    }
    doc = next;
  }
  if (doc === undefined) throw new Error("the YAML composer gave no document");
  return { doc, lines };
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

function parseYaml(text: string): ParseOutcome {
  const { doc, lines } = readDocument(text);
  const at = (offset: number): { line: number; column: number } => {
    const { line, col } = lines.linePos(offset);
    return { line, column: col };
  };
  const faults: TextFault[] = [];
  const warnings: ParsedText["warnings"] = [];
  for (const error of doc.errors) {
    const position = at(error.pos[0]);
    if (error.code === "DUPLICATE_KEY") warnings.push({ message: "key given twice: the last one counts", ...position });
    else if (error.code === "MULTIPLE_DOCS") {
      warnings.push({ message: "more than one document: only the first one is read, one pod per file", ...position });
    } else faults.push({ reason: "syntax", allowed: oneLine(error.message), ...position });
  }
  // The parser hands the stack's end on as one of its errors.
  if (faults.some((fault) => fault.allowed.includes("call stack"))) return tooDeep();
  if (faults.length > 0) return { ok: false, faults: faults.slice(0, MAX_FAULTS) };
  let value: unknown;
  try {
    value = doc.toJS({ maxAliasCount: MAX_ALIASES });
  } catch (error) {
    if (error instanceof RangeError || !(error instanceof Error)) throw error;
    // Aliases and merge keys are resolved only here: "<<: text" or an alias of nothing is the writer's fault too.
    const bomb = error.message.includes("Excessive alias count");
    return bomb ? refuse("limit", `at most ${MAX_ALIASES} uses of aliases`) : refuse("syntax", oneLine(error.message));
  }
  if (isTooDeep(value)) return tooDeep();
  return { ok: true, parsed: { value, warnings, document: () => ({ doc, lines }) } };
}

function oneLine(message: string): string {
  const first = message.split("\n")[0] ?? message;
  return first.replace(/[:\s]+$/, "");
}

/** Depth by an explicit stack; aliases that loop back were refused before. */
function isTooDeep(root: unknown): boolean {
  const stack: [unknown, number][] = [[root, 0]];
  for (let top = stack.pop(); top !== undefined; top = stack.pop()) {
    const [value, depth] = top;
    if (typeof value !== "object" || value === null) continue;
    if (depth > DEPTH_LIMIT) return true;
    for (const child of Object.values(value)) {
      if (typeof child === "object" && child !== null) stack.push([child, depth + 1]);
    }
  }
  return false;
}
