// Parses the text of a manifest into plain values, as Kubernetes reads YAML. Hard limits bound the cost of a hostile
// file.
//
// The YAML itself is read by shared/io/yaml; the last of two equal keys wins.

import { goText } from "../../../shared/base/text/go-text.js";
import { parseExactJson } from "../../../shared/io/yaml/json.js";
import {
  readKubernetesYaml,
  readKubernetesYamls,
  type KubernetesYaml,
} from "../../../shared/io/yaml/kubernetes-yaml.js";
import { LinePositions } from "../../../shared/io/yaml/line-positions.js";
import { YamlError } from "../../../shared/io/yaml/yaml-error.js";
import { readManifestJson } from "./manifest-json.js";

const SIZE_LIMIT = 10 * 1024 * 1024;
/** As upstream bounds the depth of JSON. */
export const DEPTH_LIMIT = 10_000;
const MAX_WARNINGS = 100;

export interface ParsedText {
  value: unknown;
  /** Positions of problems that do not refuse the manifest. */
  warnings: { message: string; line: number; column: number }[];
  /** The document with positions; read on demand, as JSON needs it for messages only. */
  document(): KubernetesYaml;
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

/** A manifest of one pod, or of a list of pods. */
export function parseText(input: string | Uint8Array): ParseOutcome {
  return guarded(input, () => manifestJson(input) ?? firstYaml(input, readsAsJson(input)));
}

/** One document of YAML, of any kind: JSON is YAML, too. */
export function parseYaml(input: string | Uint8Array): ParseOutcome {
  return guarded(input, () => plainJson(input) ?? firstYaml(input, false));
}

function firstYaml(input: string | Uint8Array, isJsonUpstream: boolean): ParseOutcome {
  const { rest, ...document } = readKubernetesYaml(input);
  if (document.root.value === null) return refuse("syntax", "the file is empty; expected one v1 Pod");
  const parsed = parsedOf(document);
  if (rest !== undefined) {
    const message = "more than one document: only the first one is read, one pod per file";
    parsed.warnings.push({ message, ...document.lines.at(rest) });
  }
  if (isJsonUpstream) parsed.warnings.push({ message: NO_JSON, ...document.lines.at(document.root.offset) });
  return { ok: true, parsed };
}

const NO_JSON = 'read as YAML: upstream\'s kubelet reads a text that begins with "{" as JSON, and refuses this one';

/** More than a node runs; each needs memory. */
export const MAX_DOCUMENTS = 1000;

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

/**
 * As parseTexts, each document by itself. A document that is no YAML ends at the next line that begins with "---".
 * Refused are only texts that cannot be divided into documents.
 */
export function parseDocuments(input: Uint8Array): { ok: true; documents: ParsedDocument[] } | RefusedText {
  return guarded(input, () => {
    const json = manifestJson(input);
    if (json !== undefined) return json.ok ? { ok: true, documents: [{ ...json, line: 1 }] } : json;
    const documents: ParsedDocument[] = [];
    for (const one of eachDocument(input)) {
      if (one instanceof YamlError) documents.push({ ...refusedBy(one), line: one.line });
      else if (one.root.value !== null) {
        documents.push({ ok: true, parsed: parsedOf(one), line: one.lines.at(one.root.offset).line });
      }
      if (documents.length > MAX_DOCUMENTS) return refuse("limit", `at most ${MAX_DOCUMENTS} documents`);
    }
    return documents.length === 0 ? refuse("syntax", "the text is empty; expected a v1 Pod") : { ok: true, documents };
  });
}

/** Each fault costs another pass over the text that follows it. */
const MAX_FAULTS = 20;

/** Documents in their order, and the faults of those that are no YAML. */
function* eachDocument(input: Uint8Array): Generator<KubernetesYaml | YamlError> {
  let rest: { text: string | Uint8Array; start: number } | undefined = { text: input, start: -1 };
  for (let faults = 0, known = 0; rest !== undefined && faults < MAX_FAULTS; faults++) {
    try {
      yield* readKubernetesYamls(rest.text);
      return;
    } catch (error) {
      if (!(error instanceof YamlError) || error.limit) throw error;
      // A "---" on the line of the fault may begin the document that has it: then the fault comes once more.
      if (error.line !== known) yield error;
      known = error.line;
      rest = afterFault(input, rest.start, error.line);
    }
  }
}

/** The documents after the one with a fault in `line`, below as many empty lines as stand before them. */
function afterFault(input: Uint8Array, before: number, line: number): { text: string; start: number } | undefined {
  const lines = decodeUtf8(input)?.split(/\r\n?|\n/) ?? [];
  const start = lines.findIndex((text, at) => at > before && at >= line - 1 && /^---(?:\s|$)/.test(text));
  return start < 0 ? undefined : { text: "\n".repeat(start) + lines.slice(start).join("\n"), start };
}

function guarded<Outcome>(input: string | Uint8Array, parse: () => Outcome): Outcome | RefusedText {
  if (input.length > SIZE_LIMIT) return refuse("limit", `at most ${SIZE_LIMIT / 1024 / 1024} MiB`);
  try {
    return parse();
  } catch (error) {
    if (error instanceof YamlError) return refusedBy(error);
    if (error instanceof RangeError) return tooDeep();
    throw error;
  }
}

function refusedBy({ limit, message, line, column }: YamlError): RefusedText {
  return refuse(limit ? "limit" : "syntax", message, line, column);
}

function refuse(reason: TextFault["reason"], allowed: string, line = 0, column = 0): RefusedText {
  return { ok: false, faults: [{ reason, allowed, line, column }] };
}

function tooDeep(): RefusedText {
  return refuse("limit", `at most ${DEPTH_LIMIT} levels of nesting`);
}

function parsedOf(document: KubernetesYaml): ParsedText {
  const warnings = document.repeated.slice(0, MAX_WARNINGS).map(({ offset }) => {
    return { message: "key given twice: the last one counts", ...document.lines.at(offset) };
  });
  return { value: document.root.value, warnings, document: () => document };
}

/** As upstream chooses: a text that begins with a brace is JSON, behind a byte order mark it is YAML. */
function readsAsJson(input: string | Uint8Array): boolean {
  const head =
    typeof input === "string" ? input.slice(0, HEAD) : Buffer.from(input.subarray(0, HEAD)).toString("latin1");
  // The mark of UTF-8 is three other characters in Latin-1.
  return /^[\t-\r \x85\xa0]*\{/.test(head);
}

/** Spaces of this number before the brace are more than any text has. */
const HEAD = 4096;

/** undefined when it is no JSON (YAML may still make sense of it). */
function manifestJson(input: string | Uint8Array): ParseOutcome | undefined {
  if (!readsAsJson(input)) return plainJson(input);
  const text = typeof input === "string" ? input : goText(Buffer.from(input));
  const json = readManifestJson(text);
  if (json === undefined) return undefined;
  if (isTooDeep(json.value)) return tooDeep();
  const lines = new LinePositions(text);
  const warnings = json.repeated
    .slice(0, MAX_WARNINGS)
    .map((offset) => ({ message: TWICE_IN_JSON, ...lines.at(offset) }));
  return { ok: true, parsed: { value: json.value, warnings, document: () => readKubernetesYaml(text) } };
}

const TWICE_IN_JSON = "key given twice: the last value counts, and objects are merged";

/** JSON is far faster read as JSON. */
function plainJson(input: string | Uint8Array): ParseOutcome | undefined {
  const text = typeof input === "string" ? input.replace(/^\uFEFF/, "") : decodeUtf8(input);
  if (text === undefined || !/^\s*[{[]/.test(text)) return undefined;
  const json = parseExactJson(text);
  if (json === undefined) return undefined;
  if (isTooDeep(json.value)) return tooDeep();
  return { ok: true, parsed: { value: json.value, warnings: [], document: () => readKubernetesYaml(text) } };
}

function decodeUtf8(input: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(input);
  } catch {
    return undefined;
  }
}

/** Depth by an explicit stack. */
function isTooDeep(root: unknown): boolean {
  const stack: [unknown, number][] = [[root, 1]];
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
