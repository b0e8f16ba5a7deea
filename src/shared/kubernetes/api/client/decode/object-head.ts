// Metadata from the beginning of an object's JSON. It reads objects over the limit of size, of which no more is kept.
// Invariant: the result has the values that JSON.parse of the whole finds, or lacks them; it never throws.

import { omitUndefined } from "../../../../base/objects/omit-undefined.js";
import { parseJson } from "../../../../base/text/parse-json.js";
import type { ObjectHead } from "../port.js";

const SPACES = /[\s,]*/y;
const SCALAR = /[^\s,}\]]*/y;
const COLON = /\s*:\s*/y;

/** The head of an object, such as an item of a list. undefined: it does not reach to the object's name. */
export function headOfJson(bytes: Buffer): ObjectHead | undefined {
  const text = bytes.toString("utf8");
  return metadataOf(text, membersOf(text, 0));
}

/** The type of a watch's event, and the head of its object. */
export function eventHeadOfJson(bytes: Buffer): { type: string; head: ObjectHead } | undefined {
  const text = bytes.toString("utf8");
  const event = membersOf(text, 0);
  const type = scalarOf(text, event.get("type"));
  const head = metadataOf(text, membersOf(text, event.get("object")?.start ?? text.length));
  return typeof type === "string" && head !== undefined ? { type, head } : undefined;
}

/** The fields of the right type. undefined: the object has no name and UID. */
export function checkedHead(fields: Record<string, unknown>): ObjectHead | undefined {
  const text = (key: keyof ObjectHead): string | undefined => {
    const value = fields[key];
    return typeof value === "string" ? value : undefined;
  };
  const number = (key: keyof ObjectHead): number | undefined => {
    const value = fields[key];
    return typeof value === "number" ? value : undefined;
  };
  const [name, uid] = [text("name"), text("uid")];
  if (name === undefined || uid === undefined) return undefined;
  return omitUndefined<ObjectHead>({
    name,
    namespace: text("namespace"),
    uid,
    resourceVersion: text("resourceVersion"),
    generation: number("generation"),
    creationTimestamp: text("creationTimestamp"),
    deletionTimestamp: text("deletionTimestamp"),
    deletionGracePeriodSeconds: number("deletionGracePeriodSeconds"),
  });
}

interface Span {
  start: number;
  /** undefined: the text ends before the value does. */
  end: number | undefined;
}

function metadataOf(text: string, object: ReadonlyMap<string, Span>): ObjectHead | undefined {
  const metadata = object.get("metadata");
  if (metadata === undefined) return undefined;
  const fields: Record<string, unknown> = {};
  for (const [key, span] of membersOf(text, metadata.start)) {
    const value = scalarOf(text, span);
    if (typeof value === "string" || typeof value === "number") fields[key] = value;
  }
  return checkedHead(fields);
}

function scalarOf(text: string, span: Span | undefined): unknown {
  if (span?.end === undefined || text[span.start] === "{" || text[span.start] === "[") return undefined;
  return parsed(text.slice(span.start, span.end));
}

/** The members of the object that begins at `start`, as far as the text goes. */
function membersOf(text: string, start: number): Map<string, Span> {
  const members = new Map<string, Span>();
  if (text[start] !== "{") return members;
  for (let at = passed(text, start + 1, SPACES); text[at] === '"';) {
    const keyEnd = endOfString(text, at);
    const key = keyEnd === undefined ? undefined : parsed(text.slice(at, keyEnd));
    if (keyEnd === undefined || typeof key !== "string") break;
    const value = passed(text, keyEnd, COLON);
    const end = endOfValue(text, value);
    members.set(key, { start: value, end });
    if (end === undefined) break;
    at = passed(text, end, SPACES);
  }
  return members;
}

function endOfValue(text: string, start: number): number | undefined {
  if (text[start] === '"') return endOfString(text, start);
  if (text[start] !== "{" && text[start] !== "[") {
    const end = passed(text, start, SCALAR);
    return end === text.length ? undefined : end;
  }
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const character = text[at];
    if (character === '"') {
      const end = endOfString(text, at);
      if (end === undefined) return undefined;
      at = end - 1;
    } else if (character === "{" || character === "[") depth += 1;
    else if ((character === "}" || character === "]") && --depth === 0) return at + 1;
  }
  return undefined;
}

function endOfString(text: string, start: number): number | undefined {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === "\\") at += 1;
    else if (text[at] === '"') return at + 1;
  }
  return undefined;
}

function passed(text: string, from: number, pattern: RegExp): number {
  pattern.lastIndex = from;
  return pattern.test(text) ? pattern.lastIndex : from;
}

function parsed(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}
