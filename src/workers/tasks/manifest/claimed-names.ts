// The names that a refused manifest gives its pods, so that an operator finds it by them. Best effort: the text may be
// no YAML at all.
// Invariant: linear time, a bounded part of the text, bounded results.

import { isRecord } from "../../../shared/base/text/is-record.js";

/** Bytes that are read of a text without a value. */
const READ_BYTES = 64 * 1024;
const MAX_NAMES = 20;
const MAX_NAME = 253;

/** "namespace/name" of each pod of a parsed manifest. */
export function claimedIn(value: unknown): string[] {
  if (!isRecord(value)) return [];
  const items = Array.isArray(value["items"]) ? (value["items"] as unknown[]) : [];
  const names: string[] = [];
  for (const one of [value, ...items.slice(0, MAX_NAMES)]) {
    const metadata = isRecord(one) ? one["metadata"] : undefined;
    const name = isRecord(metadata) ? fullName(metadata["namespace"], metadata["name"]) : undefined;
    if (name !== undefined) names.push(name);
  }
  return names.slice(0, MAX_NAMES);
}

/** Finds the names in a text that cannot be parsed: the first "name" below the first "metadata". */
export function claimedInText(text: string | Uint8Array): string[] {
  const whole = typeof text === "string" ? text.slice(0, READ_BYTES) : decoder.decode(text.subarray(0, READ_BYTES));
  const start = /(?:^|[{,])[ \t]{0,40}"?metadata"?[ \t]{0,40}:/m.exec(whole);
  if (start === null) return [];
  const rest = whole.slice(start.index + start[0].length);
  // A key at the start of a line counts before one within a line, which may be a label's.
  const [own, inner] = [new Map<string, string>(), new Map<string, string>()];
  for (const [, before = "", key = "", value = ""] of rest.matchAll(FIELD)) {
    const values = before === "" ? own : inner;
    if (!values.has(key)) values.set(key, value);
  }
  const values = own.has("name") ? own : inner;
  const name = fullName(values.get("namespace"), values.get("name"));
  return name === undefined ? [] : [name];
}

const decoder = new TextDecoder("utf-8");
/** One field of YAML or JSON; the value ends at a quote, a comma, a comment or the line. */
const FIELD = /(^|[{,])[ \t]{0,40}"?(name|namespace)"?[ \t]{0,40}:[ \t]{0,40}["']?([^"',}#\r\n]{1,300})/gm;

function fullName(namespace: unknown, name: unknown): string | undefined {
  const given = word(name);
  return given === undefined ? undefined : `${word(namespace) ?? "default"}/${given}`;
}

function word(value: unknown): string | undefined {
  if (typeof value !== "string") return undefined;
  const text = value.trim().slice(0, MAX_NAME);
  return text === "" || /[\p{C}\s]/u.test(text) ? undefined : text;
}
