// Finds integers in a text of JSON that JavaScript's numbers cannot hold, with their places. JSON.parse's own access to
// the digits calls a function for each value of a text; this reads a text that has long digits once more, and no other.
// Invariant: for a text that JSON.parse takes, each integer beyond 2^53 is found once, at the path that JSON.parse
// gives it; the time grows with the text's length.

import { walkJson, type JsonVisitor } from "../../base/text/json-tokens.js";
import type { FieldPath } from "./manifest/field-path.js";
import type { WideInteger } from "./wide-integers.js";

/** The shortest integer beyond 2^53 has as many digits. */
const LONG = 16;
/** Longer ones are in no object of the API: Go refuses them. */
const INTEGER = /^-?[0-9]{16,19}$/;
/** No field of the API is as deep; each place of a deeper one would need as much memory. */
const MAX_DEPTH = 64;

/** False for nearly all texts. A row of sixteen digits has one at each sixteenth place: only those are looked at. */
export function mayHaveWideIntegers(text: string): boolean {
  for (let at = LONG - 1; at < text.length; at += LONG) {
    if (!isDigit(text, at)) continue;
    let start = at;
    while (isDigit(text, start - 1) && at - start < LONG) start -= 1;
    let end = at + 1;
    while (isDigit(text, end) && end - start < LONG) end += 1;
    if (end - start >= LONG) return true;
  }
  return false;
}

function isDigit(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 0x30 && code <= 0x39;
}

/** @param text which JSON.parse takes */
export function findWideIntegers(text: string): WideInteger[] {
  const search = new Search(text);
  walkJson(text, search);
  return search.found;
}

/** A map or list that is open at the place that is read. */
interface Level {
  isMap: boolean;
  /** Where a map's last key begins, with its quotes; the index of a list's last value. */
  at: number;
  keyEnd: number;
}

class Search implements JsonVisitor {
  readonly found: WideInteger[] = [];
  /** From the outermost to that of the place that is read, down to MAX_DEPTH: a text may have a million brackets. */
  private readonly levels: Level[] = [];
  private depth = 0;

  constructor(private readonly source: string) {}

  open(isMap: boolean): void {
    this.nextItem();
    this.depth += 1;
    if (this.depth <= MAX_DEPTH) this.levels.push({ isMap, at: isMap ? 0 : -1, keyEnd: 0 });
  }
  close(): void {
    if (this.depth <= MAX_DEPTH) this.levels.pop();
    this.depth -= 1;
  }
  key(start: number, end: number): void {
    const { level } = this;
    if (level === undefined) return;
    level.at = start;
    level.keyEnd = end;
  }
  text(): void {
    this.nextItem();
  }

  word(start: number, end: number): void {
    this.nextItem();
    if (end - start < LONG || this.level === undefined) return;
    const digits = this.source.slice(start, end);
    if (!INTEGER.test(digits) || Number.isSafeInteger(Number(digits))) return;
    // A part of a string holds the memory of the whole; the digits of a BigInt are a string of their own.
    this.found.push({ path: this.path(), digits: String(BigInt(digits)) });
  }

  /** The innermost map or list; undefined outside of all, and below MAX_DEPTH. */
  private get level(): Level | undefined {
    return this.depth > MAX_DEPTH ? undefined : this.levels.at(-1);
  }

  private nextItem(): void {
    const { level } = this;
    if (level?.isMap === false) level.at += 1;
  }

  private path(): FieldPath {
    return this.levels.map(({ isMap, at, keyEnd }) =>
      isMap ? (JSON.parse(this.source.slice(at, keyEnd)) as string) : at,
    );
  }
}
