// One line of a log that the Docker Engine writes ({"log":"text\n","stream":"stdout","time":"…"}), as upstream's
// kubelet decodes it: names of fields in any case, unknown ones ignored, null and absent alike.

import { isGoTime } from "../../base/text/go-time.js";
import { parseJson } from "../../base/text/parse-json.js";

/** Bytes of one line; longer ones are passed over. The Engine cuts the output into parts of 16 KiB. */
export const LONGEST_JSON_LINE = 4 * 1024 * 1024;

export interface JsonRecord {
  /** Ends with a newline where the line of output does. */
  text: string;
  /** Any text: only "stdout" and "stderr" are streams. */
  stream: string;
  /** RFC 3339. */
  time: string;
}

const ZERO_TIME = "0001-01-01T00:00:00Z";

/** undefined: the line is no such record. */
export function parseJsonRecord(line: string): JsonRecord | undefined {
  let value: unknown;
  try {
    value = parseJson(line);
  } catch {
    return undefined;
  }
  const record: JsonRecord = { text: "", stream: "", time: ZERO_TIME };
  if (value === null) return record;
  if (typeof value !== "object" || Array.isArray(value)) return undefined;
  for (const [name, field] of Object.entries(value)) {
    const key = FIELDS.get(name.toLowerCase());
    if (key === undefined || field === null) continue;
    if (typeof field !== "string") return undefined;
    if (key === "time" && !isGoTime(field)) return undefined;
    record[key] = field;
  }
  return record;
}

const FIELDS: ReadonlyMap<string, keyof JsonRecord> = new Map([
  ["log", "text"],
  ["stream", "stream"],
  ["time", "time"],
]);
