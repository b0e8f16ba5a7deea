// Parses the text of a manifest into plain values, as Kubernetes reads YAML. Hard limits bound the cost of a hostile file.
//
// The YAML itself is read by shared/yaml; the last of two equal keys wins.
import { YAMLParseError, type Document, type LineCounter } from "yaml";
import {
  DEPTH_LIMIT,
  isTooDeepError,
  readKubernetesYaml,
  readKubernetesYamls,
} from "../../../shared/yaml/kubernetes-yaml.js";
import { withoutTrailing } from "../../../shared/text/linear.js";

const SIZE_LIMIT = 10 * 1024 * 1024;
/** More than enough for hand-made anchors, too few for a bomb. */
const MAX_ALIASES = 100;
/** A text that is broken once is often broken all the way down. */
const MAX_FAULTS = 5;

export interface ParsedText {
  value: unknown;
  /** Positions of problems that do not refuse the manifest. */
  warnings: { message: string; line: number; column: number }[];
  /** The document with positions; parsed on demand, as JSON needs it for messages only. */
  document(): { doc: Document; lines: LineCounter };
}

interface TextFault {
  reason: "syntax" | "limit";
  allowed: string;
  line: number;
  column: number;
}
interface RefusedText {
  ok: false;
  faults: TextFault[];
}
export type ParseOutcome = { ok: true; parsed: ParsedText } | RefusedText;

export function parseText(input: string | Uint8Array): ParseOutcome {
  if (input.length > SIZE_LIMIT) return refuse("limit", `at most ${SIZE_LIMIT / 1024 / 1024} MiB`);
  const text = decodeUtf8(input);
  if (text === undefined) return refuse("syntax", "the text must be UTF-8");
  if (text.trim() === "") return refuse("syntax", "the file is empty; expected one v1 Pod");
  try {
    return parseJson(text) ?? parseYaml(text);
  } catch (error) {
    if (isTooDeepError(error) || error instanceof RangeError) return tooDeep();
    throw error;
  }
}

/** More than a node runs; the composer needs memory for each. */
const MAX_DOCUMENTS = 1000;

/** A document, and its first line from 1. */
export type ParsedDocument = ParseOutcome & { line: number };

/** Every document of a text that is not empty, with positions in the whole text; JSON is one document. */
export function parseTexts(input: Uint8Array): { ok: true; parsed: ParsedText[] } | RefusedText {
  const outcome = parseDocuments(input);
  if (!outcome.ok) return outcome;
  const parsed: ParsedText[] = [];
  for (const document of outcome.documents) {
    if (!document.ok) return { ok: false, faults: document.faults };
    parsed.push(document.parsed);
  }
  return { ok: true, parsed };
}

/** As parseTexts, each document by itself; refused are only texts that cannot be divided into documents. */
export function parseDocuments(input: Uint8Array): { ok: true; documents: ParsedDocument[] } | RefusedText {
  if (input.length > SIZE_LIMIT) return refuse("limit", `at most ${SIZE_LIMIT / 1024 / 1024} MiB`);
  const text = decodeUtf8(input);
  if (text === undefined) return refuse("syntax", "the text must be UTF-8");
  try {
    const json = parseJson(text);
    if (json !== undefined) return json.ok ? { ok: true, documents: [{ ...json, line: 1 }] } : json;
    const { docs, lines } = readKubernetesYamls(text, MAX_DOCUMENTS + 1);
    if (docs.length > MAX_DOCUMENTS) return refuse("limit", `at most ${MAX_DOCUMENTS} documents`);
    const documents: ParsedDocument[] = [];
    for (const doc of docs) {
      const outcome = valueOf(doc, lines);
      const [start] = doc.contents?.range ?? doc.range;
      if (!outcome.ok || outcome.parsed.value !== null) documents.push({ ...outcome, line: lines.linePos(start).line });
    }
    return documents.length === 0 ? refuse("syntax", "the text is empty; expected a v1 Pod") : { ok: true, documents };
  } catch (error) {
    if (isTooDeepError(error) || error instanceof RangeError) return tooDeep();
    throw error;
  }
}

function refuse(reason: TextFault["reason"], allowed: string, line = 0, column = 0): RefusedText {
  return { ok: false, faults: [{ reason, allowed, line, column }] };
}

function tooDeep(): RefusedText {
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

/** The document, with an error for a second one. */
function readDocument(text: string): { doc: Document; lines: LineCounter } {
  const { doc, lines, second } = readKubernetesYaml(text);
  if (second !== undefined) {
    const [from, to] = second.range;
    doc.errors.push(new YAMLParseError([from, to], "MULTIPLE_DOCS", "more than one document"));
  }
  return { doc, lines };
}

function parseYaml(text: string): ParseOutcome {
  const { doc, lines } = readDocument(text);
  return valueOf(doc, lines);
}

function valueOf(doc: Document, lines: LineCounter): ParseOutcome {
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
  return withoutTrailing(first, ": \t\r");
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
