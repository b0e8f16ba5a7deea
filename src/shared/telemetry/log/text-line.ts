// A log line in klog's format, for people and for tools that parse a kubelet's log.
//   I1121 09:46:13.123456   12345 sync-loop] "Message" err="…" pod="ns/name" count=3
// The module is in the place of klog's file:line. Times are local, as klog's are. A long value that the message has is
// not repeated: pod, UID and reason are in most messages. JSON lines have every field (docs/adr/0120).

import { replaceEach } from "../../base/text/linear.js";
import { escapedLines } from "../../base/text/printable.js";
import { quote } from "../../base/text/quote.js";
import { errorText } from "./error-text.js";
import { ERROR_LEVEL, FATAL_LEVEL, WARN_LEVEL } from "./verbosity.js";

export interface TextLine {
  /** pino's level number. */
  level: number;
  /** Milliseconds since the epoch, with fractions. */
  at: number;
  /** Module or thread. */
  caller: string;
  message: string;
  /** undefined values are left out, and long ones that the message has; `err` comes first. */
  fields: Readonly<Record<string, unknown>>;
  /** Stack of `err`; "" to leave it out. */
  stack: string;
}

const PID = String(process.pid).padStart(7);

/** The line with its end; a value of several lines makes it several. */
export function textLine(line: TextLine): string {
  let text = `${letter(line.level)}${stamp(line.at)} ${PID} ${line.caller}] ${quote(line.message)}`;
  const { err } = line.fields;
  if (err !== undefined) text += field("err", err);
  for (const key in line.fields) {
    const value = line.fields[key];
    if (key !== "err" && value !== undefined && !isToldIn(line.message, value)) text += field(key, value);
  }
  if (line.stack !== "") text += field("stack", line.stack);
  return `${text}\n`;
}

/** A shorter value, such as "running", may be in the message by chance. */
const LEAST_TOLD = 16;

function isToldIn(message: string, value: unknown): boolean {
  return typeof value === "string" && value.length >= LEAST_TOLD && message.includes(value);
}

/** Puts a syslog priority before each line of `text`, as the journal reads it: <3> error … <7> debug. */
export function withPriority(text: string, level: number, verbosity: number): string {
  const priority =
    level >= FATAL_LEVEL ? 2 : level >= ERROR_LEVEL ? 3 : level >= WARN_LEVEL ? 4 : verbosity > 0 ? 7 : 6;
  const end = text.endsWith("\n") ? "\n" : "";
  const lines = end === "" ? text : text.slice(0, -1);
  if (text === "" || !lines.includes("\n")) return text && `<${priority}>${text}`;
  return `<${priority}>${replaceEach(lines, [["\n", `\n<${priority}>`]])}${end}`;
}

function letter(level: number): string {
  if (level >= FATAL_LEVEL) return "F";
  if (level >= ERROR_LEVEL) return "E";
  return level >= WARN_LEVEL ? "W" : "I";
}

let stampedSecond = NaN;
let secondText = "";

/** mmdd hh:mm:ss.µs */
function stamp(at: number): string {
  const second = Math.floor(at / 1000);
  if (second !== stampedSecond) {
    const date = new Date(second * 1000);
    const two = (value: number): string => String(value).padStart(2, "0");
    const day = `${two(date.getMonth() + 1)}${two(date.getDate())}`;
    secondText = `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
    stampedSecond = second;
  }
  const micros = Math.min(999_999, Math.round((at - second * 1000) * 1000));
  return `${secondText}.${String(micros).padStart(6, "0")}`;
}

function field(key: string, value: unknown): string {
  switch (typeof value) {
    case "string":
      return textField(key, value);
    case "number":
      return Number.isFinite(value) ? ` ${key}=${value}` : ` ${key}="${value}"`;
    case "boolean":
    case "bigint":
      return ` ${key}=${value}`;
    case "symbol":
    case "function":
    case "undefined":
      return textField(key, String(value));
    case "object":
      return value instanceof Error ? textField(key, errorText(value)) : ` ${key}=${json(value)}`;
  }
}

/** Several lines are shown as lines, without control characters, indented by a tab, between `<` and ` >`. */
function textField(key: string, value: string): string {
  if (!value.includes("\n")) return ` ${key}=${quote(value)}`;
  const body = value.endsWith("\n") ? value.slice(0, -1) : value;
  return ` ${key}=<\n\t${escapedLines(body).replaceAll("\n", "\n\t")}\n >`;
}

function json(value: object | null): string {
  try {
    return JSON.stringify(value, replacer);
  } catch (error) {
    return quote(`<not shown: ${errorText(error)}>`);
  }
}

/** Values that JSON cannot represent, or shows as {}. */
function replacer(_key: string, value: unknown): unknown {
  if (typeof value === "bigint") return value <= Number.MAX_SAFE_INTEGER ? Number(value) : String(value);
  if (value instanceof Error) return errorText(value);
  if (value instanceof Map) return Object.fromEntries(value as Map<string, unknown>);
  if (value instanceof Set) return [...(value as Set<unknown>)];
  return value;
}
