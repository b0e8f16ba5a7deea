// A manifest that is JSON, as Go decodes it into its structs: of two equal keys the later counts, but objects merge,
// and lists item by item. A number with a fraction or an exponent is no integer, whatever its value.

import { walkJson, type JsonVisitor } from "../../../shared/base/text/json-tokens.js";
import { parseExactJson } from "../../../shared/io/yaml/json.js";
import { JsonDecimal } from "./json-decimal.js";

export interface ManifestJson {
  value: unknown;
  /** Where keys are that their object had before. */
  repeated: number[];
}

/** Objects that are there in every pod: null does not empty them. Null for any other object, or for a list, does. */
const ALWAYS_THERE = new Set(["metadata", "spec", "status", "resources"]);

/** undefined if it is no JSON. Throws RangeError for one that is too deep for the program's stack. */
export function readManifestJson(text: string): ManifestJson | undefined {
  const plain = parseExactJson(text);
  if (plain === undefined) return undefined;
  const survey = new Survey(text);
  walkJson(text, survey);
  const { repeated, hasDecimals } = survey;
  if (repeated.length === 0 && !hasDecimals) return { value: plain.value, repeated };
  const builder = new Builder(text);
  walkJson(text, builder);
  return { value: builder.root, repeated };
}

/** Finds what JSON.parse loses. */
class Survey implements JsonVisitor {
  readonly repeated: number[] = [];
  hasDecimals = false;
  /** The keys of each map that is open; undefined: a list. */
  private readonly levels: (Set<string> | undefined)[] = [];

  constructor(private readonly source: string) {}

  open(isMap: boolean): void {
    this.levels.push(isMap ? new Set() : undefined);
  }
  close(): void {
    this.levels.pop();
  }
  key(start: number, end: number): void {
    const keys = this.levels.at(-1);
    const key = stringAt(this.source, start, end);
    if (keys?.has(key) === true) this.repeated.push(start);
    keys?.add(key);
  }
  text(): void {
    // Strings are read by JSON.parse as Go reads them.
  }
  word(start: number, end: number): void {
    this.hasDecimals ||= isDecimal(this.source.slice(start, end));
  }
}

type Holder = Record<string, unknown> | unknown[];

/** Builds the value, with what its objects have already. */
class Builder implements JsonVisitor {
  root: unknown;
  private readonly levels: { holder: Holder; at: string | number }[] = [];

  constructor(private readonly source: string) {}

  open(isMap: boolean): void {
    const before = this.before();
    const known = Array.isArray(before) ? !isMap : isMap && isHolder(before);
    const holder = known ? (before as Holder) : isMap ? {} : [];
    this.put(holder);
    this.levels.push({ holder, at: isMap ? "" : 0 });
  }

  close(): void {
    const closed = this.levels.pop();
    if (Array.isArray(closed?.holder)) closed.holder.length = Number(closed.at);
    this.next();
  }

  key(start: number, end: number): void {
    const level = this.levels.at(-1);
    if (level !== undefined) level.at = stringAt(this.source, start, end);
  }

  text(start: number, end: number): void {
    this.scalar(stringAt(this.source, start, end));
  }

  word(start: number, end: number): void {
    const word = this.source.slice(start, end);
    if (isDecimal(word)) this.scalar(new JsonDecimal(word));
    else this.scalar(word === "null" ? this.emptied() : parseExactJson(word)?.value);
  }

  private scalar(value: unknown): void {
    this.put(value);
    this.next();
  }

  /** What null makes of the place. */
  private emptied(): unknown {
    const before = this.before();
    const keeps = typeof before === "string" || (isHolder(before) && ALWAYS_THERE.has(String(this.levels.at(-1)?.at)));
    return keeps ? before : null;
  }

  private before(): unknown {
    const level = this.levels.at(-1);
    if (level === undefined || !Object.hasOwn(level.holder, level.at)) return undefined;
    return (level.holder as Record<string | number, unknown>)[level.at];
  }

  private put(value: unknown): void {
    const level = this.levels.at(-1);
    if (level === undefined) this.root = value;
    else Object.defineProperty(level.holder, level.at, { value, ...ORDINARY });
  }

  /** A value of a list is complete. */
  private next(): void {
    const level = this.levels.at(-1);
    if (typeof level?.at === "number") level.at += 1;
  }
}

/** "__proto__" is a key like any other. */
const ORDINARY = { configurable: true, enumerable: true, writable: true };

function isHolder(value: unknown): value is Holder {
  return typeof value === "object" && value !== null && !(value instanceof JsonDecimal);
}

function stringAt(source: string, start: number, end: number): string {
  return JSON.parse(source.slice(start, end)) as string;
}

/** true and false have an e, too. */
function isDecimal(word: string): boolean {
  return /^-?[0-9]+[.eE]/.test(word);
}
